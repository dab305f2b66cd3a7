// A reference to something callable: for arguments only, owns nothing (a fiber that is abandoned
// must not, see scheduler.h).
#ifndef TESTS_ORACLE_FUNCTION_REF_H
#define TESTS_ORACLE_FUNCTION_REF_H

#include <type_traits>

namespace oracle {

template <typename Result, typename... Arguments>
class FunctionRef {
 public:
  template <typename Function>
    requires(!std::is_same_v<Function, FunctionRef>)
  // NOLINTNEXTLINE(google-explicit-constructor): stands for the function in argument lists
  FunctionRef(const Function& function) noexcept
      : function_(&function), call_([](const void* called, Arguments... arguments) -> Result {
          return (*static_cast<const Function*>(called))(arguments...);
        }) {}

  Result operator()(Arguments... arguments) const { return call_(function_, arguments...); }

 private:
  const void* function_;
  Result (*call_)(const void*, Arguments...);
};

}  // namespace oracle

#endif  // TESTS_ORACLE_FUNCTION_REF_H
