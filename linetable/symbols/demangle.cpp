#include "linetable/symbols/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <cstring>

#define HAVE_DECL_BASENAME 1  // else it declares one of its own, unlike libc's
#include <libiberty/demangle.h>

namespace coz::linetable {

Demangler::~Demangler() { std::free(buffer_); }

bool is_mangled(const char* symbol) noexcept {
  return std::strncmp(symbol, "_Z", 2) == 0 || std::strncmp(symbol, "_R", 2) == 0;
}

std::string Demangler::operator()(const char* symbol) {
  if (!is_mangled(symbol)) return symbol;
  // Rust's older mangling is valid C++ with escapes and a hash; libiberty knows it by the hash.
  if (char* rust = rust_demangle(symbol, 0); rust != nullptr) {
    const std::string name = rust;
    std::free(rust);
    return name;
  }
  int status = 0;
  char* text = abi::__cxa_demangle(symbol, buffer_, &buffer_size_, &status);
  if (text == nullptr) return symbol;
  buffer_ = text;
  return text;
}

}  // namespace coz::linetable
