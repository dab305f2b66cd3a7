#include "experiment/random.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <vector>

using coz::Random;

TEST_CASE("random numbers are those of SplitMix64, on every machine") {
  // The values that the published implementation gives for this seed.
  Random random(1234567);
  CHECK(random.next() == 6457827717110365317U);
  CHECK(random.next() == 3203168211198807973U);
  CHECK(random.next() == 9817491932198370423U);
  CHECK(random.next() == 4593380528125082431U);
}

TEST_CASE("the same seed gives the same numbers, another seed others") {
  Random a(99);
  Random b(99);
  Random c(100);
  std::set<std::uint64_t> of_a;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t number = a.next();
    REQUIRE(number == b.next());
    of_a.insert(number);
  }
  CHECK(of_a.size() == 100);
  for (int i = 0; i < 100; ++i) REQUIRE_FALSE(of_a.contains(c.next()));
}

TEST_CASE("below(n) gives each number under n equally often") {
  Random random(5);
  std::array<int, 10> counts{};
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t number = random.below(10);
    REQUIRE(number < 10);
    ++counts[number];
  }
  for (const int count : counts) CHECK(count == Approx(10000).margin(500));
  CHECK(random.below(1) == 0);
}

TEST_CASE("fractions lie in [0, 1), evenly") {
  Random random(6);
  double sum = 0;
  int low = 0;
  for (int i = 0; i < 100000; ++i) {
    const double fraction = random.fraction();
    REQUIRE(fraction >= 0);
    REQUIRE(fraction < 1);
    sum += fraction;
    low += fraction < 0.1;
  }
  CHECK(sum / 100000 == Approx(0.5).margin(0.005));
  CHECK(low == Approx(10000).margin(500));
}

TEST_CASE("a shuffle keeps the elements, and gives each order equally often") {
  Random random(7);
  std::map<std::vector<int>, int> orders;
  for (int i = 0; i < 60000; ++i) {
    std::vector<int> sequence = {1, 2, 3};
    random.shuffle(sequence);
    ++orders[sequence];
  }
  CHECK(orders.size() == 6);
  for (const auto& [order, count] : orders) {
    CHECK(std::is_permutation(order.begin(), order.end(), std::vector<int>{1, 2, 3}.begin()));
    CHECK(count == Approx(10000).margin(500));
  }
  std::vector<int> none;
  random.shuffle(none);
  CHECK(none.empty());
}
