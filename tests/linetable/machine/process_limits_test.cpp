#include "linetable/machine/process_limits.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include "tests/linetable/temporary_folder.h"

using namespace coz::linetable;

// A sanitizer needs more memory than the limits that are set here.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace {

rlim_t memory_limit() {
  struct rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 ? limit.rlim_cur : 0;
}

}  // namespace

TEST_CASE("the limit of memory goes by all that is read", "[linetable][limits]") {
  const TemporaryFolder folder;
  const std::string binary = folder / "program";
  const std::string debug_file = folder / "program.debug";
  write_whole(binary, std::string(1000, 'x'));
  write_whole(debug_file, std::string(50000, 'x'));
  const rlim_t before = memory_limit();
  allow_to_read(debug_file);
  CHECK(memory_limit() == before);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // Nothing of Catch may run here; the exit status is the answer.
    limit_process(binary, true);
    const rlim_t small = memory_limit();
    allow_to_read(debug_file);
    const rlim_t grown = memory_limit();
    // A lower limit of the user's stays.
    rlimit own{};
    getrlimit(RLIMIT_AS, &own);
    own.rlim_cur = rlim_t{3} << 30;
    setrlimit(RLIMIT_AS, &own);
    limit_process(binary, true);
    allow_to_read(debug_file);
    _exit(grown == small + rlim_t{16} * 50000 && memory_limit() == own.rlim_cur ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
#endif
