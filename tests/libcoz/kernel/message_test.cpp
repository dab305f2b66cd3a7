#include "kernel/message.h"

#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <string>

namespace {

// What message() writes to standard error. A line fits into the pipe.
template <typename Action>
std::string on_standard_error(Action action) {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const int saved = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  action();
  dup2(saved, STDERR_FILENO);
  close(saved);
  close(ends[1]);
  std::string text(4096, '\0');
  const auto length = read(ends[0], text.data(), text.size());
  close(ends[0]);
  text.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return text;
}

}  // namespace

TEST_CASE("a message is one line that says who speaks") {
  CHECK(on_standard_error([] { coz::message("%s: %d", "threads", 3); }) == "coz: threads: 3\n");
}

TEST_CASE("a message that is too long is cut, and still ends its line") {
  const std::string longest(5000, 'x');
  const std::string text = on_standard_error([&] { coz::message("%s", longest.c_str()); });
  CHECK(text.size() <= 1024);
  CHECK(text.size() > 1000);
  CHECK(text.substr(0, 6) == "coz: x");
  CHECK(text.substr(text.size() - 2) == "x\n");
}

TEST_CASE("names in a message cannot command a terminal") {
  CHECK(on_standard_error([] { coz::message("%s", "a\x1b[31m\nb\x7f"); }) == "coz: a?[31m?b?\n");
}
