#include "symbols/memory_map.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>

using coz::file_at;
using coz::parse_memory_map;

TEST_CASE("the kernel's map of the memory is read", "[memory_map]") {
  const auto mappings = parse_memory_map(
      "55d0-55d8 r-xp 00002000 fe:01 1234                       /usr/bin/prog\n"
      "6000-6100 rw-p 00000000 00:00 0                          [heap]\n"
      "7000-7010 r--p 00000000 fe:01 99 /tmp/a library.so (deleted)\n"
      "7010-7020 rw-p 00000000 00:00 0 \n"
      "what is this\n"
      "8000-8010 r--p 00000000 fe:01 99 /tmp/last");
  REQUIRE(mappings.size() == 3);
  CHECK(file_at(mappings, 0x55d0) == "/usr/bin/prog");
  CHECK(file_at(mappings, 0x55d7) == "/usr/bin/prog");
  CHECK(file_at(mappings, 0x55d8).empty());
  CHECK(file_at(mappings, 0x6000).empty());
  CHECK(file_at(mappings, 0x7000) == "/tmp/a library.so");
  CHECK(file_at(mappings, 0x8000) == "/tmp/last");
  CHECK(file_at(mappings, 0).empty());
  CHECK(file_at({}, 0x8000).empty());
}

TEST_CASE("this program is in its own map", "[memory_map]") {
  std::ifstream file("/proc/self/maps");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto mappings = parse_memory_map(text);
  const auto here = reinterpret_cast<std::uintptr_t>(&parse_memory_map);
  CHECK(std::string(file_at(mappings, here)).find("_tests") != std::string::npos);
}
