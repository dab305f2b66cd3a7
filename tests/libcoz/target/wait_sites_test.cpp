#include "target/wait_sites.h"

#include <catch2/catch.hpp>
#include <memory>
#include <set>

namespace {

using coz::kMillisecond;
using coz::WaitClass;
using coz::WaitSites;

}  // namespace

TEST_CASE("a line is one wait site, with the function of its first wait") {
  auto sites = std::make_unique<WaitSites>();
  const auto one = sites->find_or_add(0, 5);
  const auto other = sites->find_or_add(700, 6);
  REQUIRE((one && other));
  CHECK(*one != *other);
  CHECK(sites->find_or_add(0, 9) == one);
  REQUIRE(sites->get(*one));
  CHECK(sites->get(*one)->id == 0);
  CHECK(sites->get(*one)->function == 5);
  CHECK(sites->find(700) == other);
  CHECK_FALSE(sites->find(701));
}

TEST_CASE("classes of waits have sites of their own") {
  auto sites = std::make_unique<WaitSites>();
  const std::uint32_t sleeps = WaitSites::of_class(WaitClass::kSleep);
  CHECK(WaitSites::is_class(sleeps));
  CHECK(coz::kWaitClassNames.at(sleeps) == std::string("sleep"));
  CHECK_FALSE(sites->get(sleeps));
  const auto line = sites->find_or_add(sleeps, 0);
  REQUIRE(line);
  CHECK_FALSE(WaitSites::is_class(*line));
}

TEST_CASE("a full table of wait sites keeps what it has") {
  auto sites = std::make_unique<WaitSites>();
  std::set<std::uint32_t> given;
  std::uint32_t id = 0;
  for (;; ++id) {
    const auto site = sites->find_or_add(id, 0);
    if (!site) break;
    CHECK(*site < WaitSites::kMaxSites);
    given.insert(*site);
  }
  CHECK(id == given.size());
  CHECK(id > 400);
  CHECK(sites->find_or_add(0, 0));
}

TEST_CASE("periods of waiting are counted without a rest") {
  auto sites = std::make_unique<WaitSites>();
  std::uint32_t periods = 0;
  for (int i = 0; i < 1000; ++i) periods += sites->add(3, kMillisecond / 4, kMillisecond);
  CHECK(periods == 250);
  CHECK(sites->add(3, 10 * kMillisecond, kMillisecond) == 10);
  CHECK(sites->add(4, kMillisecond / 2, kMillisecond) == 0);
}
