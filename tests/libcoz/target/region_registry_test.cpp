#include "target/region_registry.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using coz::RegionRegistry;

TEST_CASE("a region has one number") {
  const auto registry = std::make_unique<RegionRegistry>();
  CHECK_FALSE(registry->find("parse"));
  const auto parse = registry->find_or_add("parse");
  const auto sort = registry->find_or_add("sort");
  REQUIRE(parse);
  REQUIRE(sort);
  CHECK(*parse != *sort);
  CHECK(registry->find_or_add("parse") == parse);
  CHECK(registry->find("sort") == sort);
  CHECK(std::string(registry->name(*parse)) == "parse");
  CHECK(registry->size() == 2);
}

TEST_CASE("a region's name is cut, not lost") {
  const auto registry = std::make_unique<RegionRegistry>();
  const std::string name(3 * RegionRegistry::kMaxName, 'x');
  const auto region = registry->find_or_add(name);
  REQUIRE(region);
  CHECK(registry->find(name) == region);
  CHECK(std::string(registry->name(*region)).size() == RegionRegistry::kMaxName);
}

TEST_CASE("a full registry of regions refuses more") {
  const auto registry = std::make_unique<RegionRegistry>();
  for (std::uint32_t i = 0; i < RegionRegistry::kMaxNames; ++i) {
    REQUIRE(registry->find_or_add("r" + std::to_string(i)));
  }
  CHECK_FALSE(registry->find_or_add("one more"));
  CHECK(registry->is_first_refused());
  CHECK_FALSE(registry->is_first_refused());
  CHECK(registry->find_or_add("r7"));
}

TEST_CASE("threads that name a region at once get the same number", "[threads]") {
  const auto registry = std::make_unique<RegionRegistry>();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const auto region = registry->find_or_add("r" + std::to_string(i % 50));
        if (!region || registry->name(*region) != "r" + std::to_string(i % 50)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(registry->size() == 50);
}
