// Names of symbols as users know them: C++ by the C++ runtime's own demangler, Rust (both of its
// manglings) by libiberty's.
#ifndef LINETABLE_SYMBOLS_DEMANGLE_H
#define LINETABLE_SYMBOLS_DEMANGLE_H

#include <cstddef>
#include <string>

namespace coz::linetable {

class Demangler {
 public:
  Demangler() = default;
  ~Demangler();
  Demangler(const Demangler&) = delete;
  Demangler& operator=(const Demangler&) = delete;

  // What is not mangled, or in a way that is not known, stays as it is.
  [[nodiscard]] std::string operator()(const char* symbol);

 private:
  char* buffer_ = nullptr;  // malloc'ed: __cxa_demangle wants to enlarge it
  std::size_t buffer_size_ = 0;
};

// Is this a symbol of C++ or Rust, which names more than a plain name does?
[[nodiscard]] bool is_mangled(const char* symbol) noexcept;

}  // namespace coz::linetable

#endif  // LINETABLE_SYMBOLS_DEMANGLE_H
