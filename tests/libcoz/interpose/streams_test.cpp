#include "interpose/streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <vector>

#include "tests/libcoz/delay/delays_world.h"

using namespace delays_world;

namespace {

struct Pipe {
  Pipe() { REQUIRE(pipe(ends) == 0); }
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
  int ends[2];
};

constexpr std::uint64_t kDirection = 7;
constexpr std::size_t kSize = 1;  // of what is written

}  // namespace

TEST_CASE("both ends of a pipe are one stream, and a file is none") {
  const Pipe first, second;
  const auto in = coz::stream_of(first.ends[0]);
  const auto out = coz::stream_of(first.ends[1]);
  REQUIRE((in && out));
  CHECK(in->incoming == out->outgoing);
  CHECK(coz::stream_of(second.ends[0])->incoming != in->incoming);
  const int file = open("/dev/null", O_RDONLY);
  CHECK_FALSE(coz::stream_of(file));
  close(file);
  CHECK_FALSE(coz::stream_of(file));
}

TEST_CASE("who waits for data takes over the delays of who wrote them") {
  World world;
  const Pipe pipe;
  Thread reads(world, 1);
  Thread writes(world, 2);
  const long result = coz::read_stream(reads.delays, pipe.ends[0], kDirection, [&] {
    clock_now += 10 * kMillisecond;
    writes.state.clock.start_at(4 * kDelay);
    world.global.raise_to(4 * kDelay);
    return coz::write_stream(writes.delays, pipe.ends[1], kSize, kDirection, [] { return 1L; });
  });
  CHECK(result == 1);
  CHECK(sleeps == 0);
  CHECK(reads.local() == 4 * kDelay);
}

TEST_CASE("data that are there already earn no credit") {
  World world;
  const Pipe pipe;
  Thread reads(world, 1);
  Thread writes(world, 2);
  writes.state.clock.start_at(4 * kDelay);
  world.global.raise_to(4 * kDelay);
  coz::write_stream(writes.delays, pipe.ends[1], kSize, kDirection,
                    [&] { return write(pipe.ends[1], "x", 1); });
  coz::read_stream(reads.delays, pipe.ends[0], kDirection, [] { return 1L; });
  CHECK(slept == 4 * kDelay);
}

TEST_CASE("data from a process that is not profiled, and the end of a file, earn no credit") {
  World world;
  const Pipe pipe;
  Thread reads(world, 1);
  world.global.raise_to(4 * kDelay);
  const bool is_written = GENERATE(true, false);
  Thread writes(world, 2);
  if (!is_written) writes.delays.before_waking(coz::data_in(kDirection));
  coz::read_stream(reads.delays, pipe.ends[0], kDirection, [&] {
    clock_now += 10 * kMillisecond;
    return is_written ? 1L : 0L;
  });
  CHECK(slept >= 4 * kDelay);
}

TEST_CASE("who waits for room takes over the delays of who read") {
  World world;
  const Pipe pipe;
  const int size = fcntl(pipe.ends[1], F_GETPIPE_SZ);
  const std::vector<char> full(static_cast<std::size_t>(size));
  REQUIRE(write(pipe.ends[1], full.data(), full.size()) == size);
  Thread reads(world, 1);
  Thread writes(world, 2);
  reads.state.clock.start_at(3 * kDelay);
  world.global.raise_to(3 * kDelay);
  sleeps = 0;
  writes.state.clock.start_at(0);
  // It pays before it may wake a reader; what comes after that is credited.
  coz::write_stream(writes.delays, pipe.ends[1], kSize, kDirection, [&] {
    reads.state.clock.start_at(5 * kDelay);
    world.global.raise_to(5 * kDelay);
    clock_now += 10 * kMillisecond;
    coz::read_stream(reads.delays, pipe.ends[0], kDirection, [] { return 1L; });
    return 1L;
  });
  CHECK(slept == 3 * kDelay);
  CHECK(writes.local() == 5 * kDelay);
}

TEST_CASE("a large write into an empty pipe may wait for a reader all the same") {
  World world;
  const Pipe pipe;
  Thread reads(world, 1);
  Thread writes(world, 2);
  const bool is_read = GENERATE(true, false);
  coz::write_stream(writes.delays, pipe.ends[1], std::size_t{1} << 20U, kDirection, [&] {
    reads.state.clock.start_at(5 * kDelay);
    world.global.raise_to(5 * kDelay);
    clock_now += 10 * kMillisecond;
    REQUIRE(write(pipe.ends[1], "x", 1) == 1);
    if (is_read) coz::read_stream(reads.delays, pipe.ends[0], kDirection, [] { return 1L; });
    return 1L << 20;
  });
  CHECK(slept == (is_read ? 0 : 5 * kDelay));
}

TEST_CASE("the end of the data is the end of the process that could write") {
  World world;
  const Pipe pipe;
  Thread reads(world, 1);
  Thread ends(world, 2);
  coz::read_stream(reads.delays, pipe.ends[0], kDirection, [&] {
    ends.state.clock.start_at(5 * kDelay);
    world.global.raise_to(5 * kDelay);
    clock_now += 10 * kMillisecond;
    ends.delays.record(coz::Session::object_of_any_end(), coz::ReleaseTime::kNoted);
    return 0L;
  });
  CHECK(slept == 0);
}

TEST_CASE("a call that returns at once, since it is not to wait, changes nothing") {
  World world;
  const Pipe pipe;
  Thread reads(world, 1);
  Thread writes(world, 2);
  writes.delays.before_waking(coz::data_in(kDirection));
  coz::read_stream(reads.delays, pipe.ends[0], kDirection, [] {
    errno = EAGAIN;
    return -1L;
  });
  CHECK(sleeps == 0);
  CHECK(errno == EAGAIN);
}
