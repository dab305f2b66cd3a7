// Memory that processes share which do not descend from each other; here two views of one process.
#include "kernel/shared_file.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "kernel/zeroed_memory.h"
#include "sampling/histogram.h"
#include "thread/shared_state.h"

using coz::Histogram;
using coz::SharedFile;

namespace {

struct TemporaryFile {
  TemporaryFile() {
    const int descriptor = mkstemp(path.data());
    REQUIRE(descriptor >= 0);
    close(descriptor);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { unlink(path.c_str()); }
  std::string path = "/tmp/shared_file_test.XXXXXX";
};

// As two processes have the file.
struct TwoProcesses {
  TwoProcesses() {
    REQUIRE(one.open(file.path.c_str()));
    REQUIRE(other.open(file.path.c_str()));
  }
  TemporaryFile file;
  SharedFile one;
  SharedFile other;
};

}  // namespace

TEST_CASE("what one has written the other reads, part by part") {
  TwoProcesses processes;
  auto& [file, one, other] = processes;
  auto* first = static_cast<char*>(one.map_next(10));
  auto* second = static_cast<char*>(one.map_next(3 * SharedFile::kPage));
  REQUIRE(first != nullptr);
  REQUIRE(second != nullptr);
  CHECK(second[0] == 0);
  std::strcpy(first, "first");
  std::strcpy(second, "second");
  CHECK(std::string(static_cast<char*>(other.map_next(10))) == "first");
  CHECK(std::string(static_cast<char*>(other.map_next(3 * SharedFile::kPage))) == "second");
}

TEST_CASE("a part takes the place of memory that is there") {
  TwoProcesses processes;
  auto& [file, one, other] = processes;
  alignas(SharedFile::kPage) static char page[SharedFile::kPage] = "before";
  CHECK(one.map_next(sizeof page, page) == page);
  CHECK(std::string(page).empty());
  std::strcpy(static_cast<char*>(other.map_next(sizeof page)), "after");
  CHECK(std::string(page) == "after");
}

TEST_CASE("a file that is not there cannot be opened") {
  SharedFile file;
  CHECK_FALSE(file.open("/nonexistent/file"));
  CHECK_FALSE(file.is_open());
}

TEST_CASE("histograms of several processes count together") {
  TwoProcesses processes;
  auto& [file, one, other] = processes;
  Histogram here;
  Histogram there;
  REQUIRE(here.reserve(100, one));
  REQUIRE(there.reserve(100, other));
  here.count_sample(true);
  here.count(7, 3);
  there.count_sample(false);
  there.count_sample(true);
  there.count(7, 3);
  there.count(99, 4);
  CHECK(here.total() == 3);
  CHECK(here.in_scope() == 2);
  CHECK(here.of(7) == 2);
  CHECK(here.of(99) == 1);
  CHECK(here.function_of(99) == 4);
  CHECK(here.seen_count() == 2);
  CHECK(here.seen(1) == 99);
}

TEST_CASE("what ranks share stands apart from what is a process's own") {
  void* block = coz::map_zeroed(sizeof(coz::SharedState));
  REQUIRE(block != nullptr);
  auto* state = new (block) coz::SharedState;
  const auto* begin = static_cast<const unsigned char*>(block);
  const auto* own = reinterpret_cast<const unsigned char*>(&state->tree);
  CHECK(own - begin == sizeof(coz::JointState));
  CHECK((own - begin) % static_cast<std::ptrdiff_t>(SharedFile::kPage) == 0);
  // As the runtime does for forked children.
  CHECK(madvise(&state->tree, sizeof *state - sizeof(coz::JointState), MADV_WIPEONFORK) == 0);
  CHECK(madvise(state, sizeof(coz::JointState), MADV_WIPEONFORK) == 0);
  // As `coz run` does for a leading rank that was killed (cozcli/launch/joint.py).
  state->selection.select(7, 1000);
  REQUIRE(state->selection.get().epoch != 0);
  std::memset(static_cast<unsigned char*>(block) + 16, 0, 4);
  CHECK(state->selection.get().epoch == 0);
  coz::unmap(block, sizeof(coz::SharedState));
}

TEST_CASE("a process that comes later takes the file only as it is") {
  TwoProcesses processes;
  auto& [file, one, other] = processes;
  struct stat status = {};
  REQUIRE(stat(file.path.c_str(), &status) == 0);
  CHECK(one.is(status.st_ino));
  CHECK_FALSE(one.is(status.st_ino + 1));
  other.never_grow();
  CHECK(other.map_next(10) == nullptr);
  CHECK(errno == ESTALE);
  REQUIRE(stat(file.path.c_str(), &status) == 0);
  CHECK(status.st_size == 0);
  REQUIRE(one.map_next(10) != nullptr);
  SharedFile later;
  REQUIRE(later.open(file.path.c_str()));
  later.never_grow();
  CHECK(later.map_next(10) != nullptr);
}

TEST_CASE("what is mapped stays when the file is closed, or moved") {
  TwoProcesses processes;
  auto& [file, one, other] = processes;
  auto* first = static_cast<char*>(one.map_next(10));
  SharedFile moved = std::move(one);
  auto* second = static_cast<char*>(moved.map_next(10));
  moved.close();
  CHECK_FALSE(moved.is_open());
  std::strcpy(first, "first");
  std::strcpy(second, "second");
  CHECK(std::string(static_cast<char*>(other.map_next(10))) == "first");
  CHECK(std::string(static_cast<char*>(other.map_next(10))) == "second");
}
