#include "thread/event_files.h"

#include <catch2/catch.hpp>
#include <memory>

using coz::EventFiles;

TEST_CASE("an eventfd is known, and who watches it, until it is removed") {
  const auto files = std::make_unique<EventFiles>();
  CHECK_FALSE(files->has(7));
  files->add(7);
  CHECK(files->has(7));
  CHECK_FALSE(files->watched_by(7));
  files->watch(7, 0);
  CHECK(files->watched_by(7) == 0);
  files->watch(7, 9);
  CHECK(files->watched_by(7) == 9);
  files->remove(7);
  CHECK_FALSE(files->has(7));
  CHECK_FALSE(files->watched_by(7));
}

TEST_CASE("what is no eventfd is not watched, and failed or high descriptors are not kept") {
  const auto files = std::make_unique<EventFiles>();
  files->watch(8, 9);
  CHECK_FALSE(files->has(8));
  for (const int file : {-1, EventFiles::kFiles, 1 << 30}) {
    files->add(file);
    files->watch(file, 3);
    CHECK_FALSE(files->has(file));
    CHECK_FALSE(files->watched_by(file));
  }
}
