#include "linetable/symbols/demangle.h"

#include <cstdlib>
#include <cstring>
#include <memory>

#define HAVE_DECL_BASENAME 1  // else it declares one of its own, unlike libc's
#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>
#else
#include <demangle.h>  // where Fedora's binutils-devel has it
#endif

namespace coz::linetable {

bool is_mangled(const char* symbol) noexcept {
  return std::strncmp(symbol, "_Z", 2) == 0 || std::strncmp(symbol, "_R", 2) == 0;
}

std::string demangled(const char* symbol) {
  if (!is_mangled(symbol)) return symbol;
  const std::unique_ptr<char, decltype(&std::free)> name(
      cplus_demangle(symbol, DMGL_PARAMS | DMGL_TYPES | DMGL_AUTO), std::free);
  return name == nullptr ? symbol : name.get();
}

}  // namespace coz::linetable
