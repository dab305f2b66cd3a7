#include "unwind/loaded_object.h"

#include <dlfcn.h>

#include <catch2/catch.hpp>

namespace {

// A function that no sanitizer has in its place.
std::uintptr_t address_of_libc() {
  return reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
}

}  // namespace

TEST_CASE("the object at an address is found", "[unwind]") {
  coz::LoadedObject libc, other;
  REQUIRE(coz::find_loaded_object(address_of_libc(), libc));
  CHECK(libc.begin <= address_of_libc());
  CHECK(libc.end > address_of_libc());
  CHECK(libc.unwind > libc.begin);
  REQUIRE(coz::find_loaded_object(reinterpret_cast<std::uintptr_t>(&address_of_libc), other));
  CHECK_FALSE(other == libc);
  int local = 0;
  CHECK_FALSE(coz::find_loaded_object(reinterpret_cast<std::uintptr_t>(&local), other));
}
