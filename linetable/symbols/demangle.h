// The names of symbols as users know them, by libiberty: C++, and both of Rust's manglings.
#ifndef LINETABLE_SYMBOLS_DEMANGLE_H
#define LINETABLE_SYMBOLS_DEMANGLE_H

#include <string>

namespace coz::linetable {

// Whether this is a symbol of C++ or Rust, which names more than a plain name does.
[[nodiscard]] bool is_mangled(const char* symbol) noexcept;

// A symbol that is not mangled, or in an unknown way, stays as it is.
[[nodiscard]] std::string demangled(const char* symbol);

}  // namespace coz::linetable

#endif  // LINETABLE_SYMBOLS_DEMANGLE_H
