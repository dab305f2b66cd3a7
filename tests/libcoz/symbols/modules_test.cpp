#include "symbols/modules.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "tests/libcoz/symbols/fake_memory.h"

using coz::ListedObject;
using coz::Module;
using coz::Modules;
using coz::SourceFrame;
using coz::SourceScope;

namespace {

// What is added to the beginning of an object to come to outer(), line 10 of /src/a.c.
constexpr std::uintptr_t kOuter = 0x10;

std::string location_at(const Modules& modules, std::uintptr_t address) {
  SourceFrame frame;
  return modules.find(address, {&frame, 1}) == 0 ? "" : modules.location(frame.line);
}

struct List {
  List() { REQUIRE(modules.reserve()); }

  std::string at(std::size_t place) const {
    return location_at(modules, memory.address(place) + kOuter);
  }
  Module& add() { return modules.add(open_sample_table(), SourceScope()); }

  FakeMemory memory;
  Modules modules{FakeMemory::find};
};

}  // namespace

TEST_CASE("a module that comes later is found, and lines that another has are that one's",
          "[modules]") {
  List list;
  Module& first = list.add();
  Module& second = list.add();
  CHECK(second.first_line == first.table.line_count());
  CHECK(second.first_function == first.table.function_count());
  CHECK(list.modules.line_count() == 2 * first.table.line_count());
  CHECK(list.at(0).empty());
  REQUIRE(list.modules.add_image(second, list.memory.put(0, 1)));
  CHECK(list.at(0) == "/src/a.c:10");
  SourceFrame place;
  REQUIRE(list.modules.find(list.memory.address(0) + kOuter, {&place, 1}) == 1);
  CHECK(place.line < second.first_line);
  CHECK(list.modules.function_name(place.function) == "outer");
  CHECK(list.modules.find_line("a.c:10") == place.line);
}

TEST_CASE("with a build id it is found wherever it is loaded next", "[modules]") {
  List list;
  REQUIRE(list.modules.add_image(list.add(), list.memory.put(0, 1)));
  list.memory.remove(0);
  CHECK(list.at(0).empty());
  const ListedObject again = list.memory.put(2, 1);
  CHECK(list.at(2) == "/src/a.c:10");
  CHECK(list.modules.knows(again));
  list.modules.forget_all_but({});
  CHECK(list.at(2) == "/src/a.c:10");
}

TEST_CASE("what is loaded in a module's place is not taken for it", "[modules]") {
  List list;
  REQUIRE(list.modules.add_image(list.add(), list.memory.put(0, 1)));
  const ListedObject other = list.memory.put(0, 2);
  CHECK(list.at(0).empty());
  CHECK_FALSE(list.modules.knows(other));
  list.memory.put(0, 1);
  CHECK(list.at(0) == "/src/a.c:10");
}

TEST_CASE("without a build id it is found where it was seen, until it is gone", "[modules]") {
  List list;
  Module& module = list.add();
  const ListedObject seen = list.memory.put_without_id(1);
  REQUIRE(list.modules.add_image(module, seen));
  CHECK(list.at(1) == "/src/a.c:10");
  list.memory.put_without_id(2);
  CHECK(list.at(2).empty());
  const auto module_now =
      GENERATE_REF(std::optional<const Module*>(), std::optional<const Module*>(&module));
  const Modules::Present present{seen, module_now};
  list.modules.forget_all_but({&present, 1});
  CHECK(list.at(1) == "/src/a.c:10");
  list.modules.forget_all_but({});
  CHECK(list.at(1).empty());
  CHECK_FALSE(list.modules.knows(seen));
  REQUIRE(list.modules.add_image(module, seen));
  CHECK(list.at(1) == "/src/a.c:10");
}

TEST_CASE("the list of images is bounded", "[modules]") {
  List list;
  Module& module = list.add();
  for (std::uint32_t i = 0; i < Modules::kMaxImages; ++i) {
    ListedObject listed;
    listed.object = {0x10000 + 0x1000 * std::uintptr_t{i}, 0x11000 + 0x1000 * std::uintptr_t{i}, 0};
    REQUIRE(list.modules.add_image(module, listed));
    REQUIRE(list.modules.add_image(module, listed));
  }
  const ListedObject further = list.memory.put(0, 1);
  CHECK_FALSE(list.modules.add_image(module, further));
  CHECK(list.at(0).empty());
}

TEST_CASE("without room for them no modules come later", "[modules]") {
  FakeMemory memory;
  Modules modules(FakeMemory::find);
  Module& module = modules.add(open_sample_table(), SourceScope());
  CHECK_FALSE(modules.add_image(module, memory.put(0, 1)));
  CHECK(location_at(modules, memory.address(0) + kOuter).empty());
}

TEST_CASE("readers find the right module, or none, while modules come and go",
          "[modules][threads]") {
  List list;
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> found{0}, wrong{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!done.load(std::memory_order_relaxed)) {
        for (std::size_t place = 0; place < FakeMemory::kPlaces; ++place) {
          const std::string line = list.at(place);
          if (line.empty()) continue;
          ++found;
          if (line != "/src/a.c:10") ++wrong;
        }
      }
    });
  }
  for (int round = 0; round < 300; ++round) {
    const std::size_t place = static_cast<std::size_t>(round) % FakeMemory::kPlaces;
    Module& module = list.add();
    const Modules::Present present{list.memory.put_without_id(place), std::nullopt};
    list.modules.forget_all_but({&present, 1});
    REQUIRE(list.modules.add_image(module, present.listed));
    std::this_thread::yield();
  }
  while (found == 0) std::this_thread::yield();
  done = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(wrong == 0);
}

TEST_CASE("of an id that several modules have, the first one's counts", "[modules]") {
  coz::SharedIds ids;
  ids.add(7, 70);
  ids.add(9, 90);
  ids.sort();
  ids.add(3, 130);
  ids.add(7, 170);
  ids.sort();
  CHECK(ids.of(3, 1) == 130);
  CHECK(ids.of(7, 1) == 70);
  CHECK(ids.of(8, 1) == 1);
  CHECK(ids.of(9, 1) == 90);
  CHECK(ids.of(10, 1) == 1);
}
