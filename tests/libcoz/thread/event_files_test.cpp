#include "thread/event_files.h"

#include <catch2/catch.hpp>
#include <memory>

using coz::EventFiles;

TEST_CASE("an eventfd wakes who waits at it; an end of a pipe, who waits at the other") {
  const auto files = std::make_unique<EventFiles>();
  CHECK_FALSE(files->has(7));
  files->add(7, 1000, 7);
  files->add(5, 2000, 4);
  CHECK(files->has(7));
  CHECK(files->woken_by(7) == 7);
  CHECK(files->woken_by(5) == 4);
  CHECK_FALSE(files->has(4));
}

TEST_CASE("a descriptor that stands for another file is not the one that was kept") {
  const auto files = std::make_unique<EventFiles>();
  files->add(7, (std::uint64_t{5} << 32) + 1000, 7);
  CHECK(files->is(7, (std::uint64_t{5} << 32) + 1000));
  CHECK_FALSE(files->is(7, 1001));
  CHECK_FALSE(files->is(8, 1000));
}

TEST_CASE("who watches a file is known until the file is removed") {
  const auto files = std::make_unique<EventFiles>();
  files->add(7, 1000, 7);
  CHECK_FALSE(files->watched_by(7));
  files->watch(7, 0);
  CHECK(files->watched_by(7) == 0);
  files->watch(7, 9);
  CHECK(files->watched_by(7) == 9);
  files->unwatch(7, 8);
  CHECK(files->watched_by(7) == 9);
  files->unwatch(7, 9);
  CHECK_FALSE(files->watched_by(7));
  files->watch(7, 9);
  files->remove(7);
  CHECK_FALSE(files->has(7));
  CHECK_FALSE(files->watched_by(7));
}

TEST_CASE("files that wake nobody are not watched, and failed or high descriptors are not kept") {
  const auto files = std::make_unique<EventFiles>();
  files->watch(8, 9);
  CHECK_FALSE(files->has(8));
  for (const int file : {-1, EventFiles::kFiles, 1 << 30}) {
    files->add(file, 1, file);
    files->watch(file, 3);
    CHECK_FALSE(files->has(file));
    CHECK_FALSE(files->watched_by(file));
  }
}

TEST_CASE("a connection may be watched before its other end is known") {
  const auto files = std::make_unique<EventFiles>();
  files->expect(8, 1000);
  CHECK_FALSE(files->has(8));
  files->watch(8, 9);
  CHECK(files->find(1000) == 8);
  CHECK(files->find(1001) == -1);
  files->connect(8, 1001, 5);
  CHECK_FALSE(files->has(8));
  files->connect(8, 1000, 5);
  CHECK(files->has(8));
  CHECK(files->woken_by(8) == 5);
  CHECK(files->watched_by(8) == 9);
  files->expect(8, 1000);
  CHECK(files->woken_by(8) == 5);
  // All eventfds have one inode.
  files->add(8, 1000, 8);
  CHECK_FALSE(files->watched_by(8));
}
