#include "linetable/cache/table_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "linetable/cache/build_table.h"
#include "tests/linetable/compiled_program.h"
#include "tests/linetable/sample_table.h"
#include "tests/linetable/temporary_folder.h"

using namespace coz::linetable;
using coz::LineTable;

namespace {

BuildResult build(const std::string& binary, const std::string& cache, bool reuse = true) {
  BuildOptions options;
  options.binary = binary;
  options.cache_dir = cache;
  options.reuse_cached = reuse;
  BuildResult result = build_table(options);
  INFO(to_json(result));
  REQUIRE(result.error == BuildError::kNone);
  return result;
}

// Files are stamped by the tick of the kernel's clock.
void wait_for_clock() { usleep(20000); }

std::size_t files_in(const std::string& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) count += entry.exists();
  return count;
}

}  // namespace

TEST_CASE("a table is built once, and anew when it is no good", "[linetable][cache]") {
  const TemporaryFolder folder;
  const std::string binary = folder / "program";
  const std::string cache = folder / "deep/er/cache";
  const std::string build_id = GENERATE("-Wl,--build-id=sha1", "-Wl,--build-id=none");
  REQUIRE(compile_c("-g " + build_id, "main.c second.c", binary));
  wait_for_clock();
  const BuildResult first = build(binary, cache);
  CHECK_FALSE(first.cached);
  CHECK(files_in(cache) == 1);
  struct stat status{};
  REQUIRE(stat(cache.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);

  SECTION("unchanged, it is taken as it is") {
    const BuildResult second = build(binary, cache);
    CHECK(second.cached);
    CHECK(second.table == first.table);
    CHECK(second.rows == first.rows);
    CHECK(second.lines == first.lines);
    CHECK(second.files == first.files);
  }
  SECTION("--no-cache") { CHECK_FALSE(build(binary, cache, false).cached); }
  SECTION("cut short") {
    REQUIRE(truncate(first.table.c_str(), 300) == 0);
    CHECK_FALSE(build(binary, cache).cached);
    CHECK(build(binary, cache).cached);
  }
  SECTION("of another build") {
    write_whole(first.table, sample_table());
    CHECK_FALSE(build(binary, cache).cached);
  }
  SECTION("writable by others") {
    REQUIRE(chmod(first.table.c_str(), 0666) == 0);
    CHECK_FALSE(build(binary, cache).cached);
  }
  SECTION("a symbolic link, which is replaced and not written through") {
    REQUIRE(rename(first.table.c_str(), (folder / "elsewhere").c_str()) == 0);
    REQUIRE(symlink((folder / "elsewhere").c_str(), first.table.c_str()) == 0);
    CHECK_FALSE(build(binary, cache).cached);
    CHECK(std::filesystem::is_regular_file(std::filesystem::symlink_status(first.table)));
  }
  SECTION("older than its binary") {
    REQUIRE(shell("touch " + binary));
    wait_for_clock();
    CHECK_FALSE(build(binary, cache).cached);
    CHECK(build(binary, cache).cached);
  }
  SECTION("of another user") {
    if (geteuid() == 0) {
      REQUIRE(chown(first.table.c_str(), 12345, 12345) == 0);
      CHECK_FALSE(build(binary, cache).cached);
    }
  }
}

TEST_CASE("a table that lacks what a file has that is not there is built anew",
          "[linetable][cache]") {
  const std::string version = GENERATE("-gdwarf-4", "-gdwarf-5");
  const TemporaryFolder folder;
  REQUIRE(shell("cd " + folder.path() + " && for f in main second; do gcc " + version +
                " -O2 -gsplit-dwarf -c " + programs_folder() + "/$f.c -o $f.o || exit 1; done && " +
                "gcc main.o second.o -o program && mv main.dwo aside"));
  const std::string binary = folder / "program";
  const std::string cache = folder / "cache";
  wait_for_clock();
  const BuildResult poor = build(binary, cache);
  REQUIRE(poor.warnings.size() == 1);
  CHECK(poor.warnings[0].find(folder / "main.dwo") != std::string::npos);
  const BuildResult again = build(binary, cache);
  CHECK_FALSE(again.cached);
  CHECK(again.warnings == poor.warnings);
  REQUIRE(shell("cd " + folder.path() + " && mv aside main.dwo"));
  const BuildResult whole = build(binary, cache);
  CHECK_FALSE(whole.cached);
  CHECK(whole.warnings.empty());
  CHECK(whole.functions > poor.functions);
  CHECK(build(binary, cache).cached);
}

TEST_CASE("a folder that others could change is refused, with what to do", "[linetable][cache]") {
  const TemporaryFolder folder;
  const std::string cache = folder / "cache";
  REQUIRE(compile_c("-g", "main.c second.c", folder / "program"));
  REQUIRE(mkdir(cache.c_str(), 0700) == 0);
  BuildOptions options;
  options.binary = folder / "program";
  options.cache_dir = cache;
  const auto complaint = [&] { return build_table(options).message; };

  CHECK(complaint().empty());
  REQUIRE(chmod(cache.c_str(), 0777) == 0);
  CHECK(complaint().find("chmod go-w") != std::string::npos);
  REQUIRE(chmod(cache.c_str(), 01777) == 0);
  CHECK(complaint().empty());
  SECTION("its group may write: refused, but where nobody else is in it (umask 002)") {
    REQUIRE(chmod(cache.c_str(), 0775) == 0);
    const bool alone =
        shell("test \"$(getent passwd | cut -d: -f4 | grep -cx \"$(id -g)\")\" = 1") &&
        shell("test \"$(id -gn)\" = \"$(id -un)\"");
    CHECK(complaint().empty() == alone);
    if (geteuid() == 0) {
      REQUIRE(chown(cache.c_str(), 0, 12345) == 0);
      CHECK(complaint().find("chmod go-w") != std::string::npos);
    }
  }
  SECTION("of another user") {
    if (geteuid() == 0) {
      REQUIRE(chown(cache.c_str(), 12345, 12345) == 0);
      CHECK(complaint().find("XDG_CACHE_HOME") != std::string::npos);
    }
  }
}

TEST_CASE("a rebuilt program gets a new table, whatever its build-id", "[linetable][cache]") {
  const TemporaryFolder folder;
  const std::string binary = folder / "program";
  const std::string build_id =
      GENERATE("-Wl,--build-id=sha1", "-Wl,--build-id=none", "-Wl,--build-id=0x1234");
  INFO(build_id);
  REQUIRE(compile_c("-g -O0 " + build_id, "main.c second.c", binary));
  wait_for_clock();
  const BuildResult first = build(binary, folder / "cache");
  wait_for_clock();
  REQUIRE(compile_c("-g -O2 " + build_id, "main.c second.c", binary));
  wait_for_clock();
  const BuildResult second = build(binary, folder / "cache");
  CHECK_FALSE(second.cached);
  CHECK(second.rows != first.rows);
}

TEST_CASE("many helpers may build the same table at once", "[linetable][cache]") {
  const TemporaryFolder folder;
  const std::string binary = folder / "program";
  const std::string cache = folder / "cache";
  REQUIRE(compile_c("-g -O2", "main.c second.c", binary));
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      // Nothing of Catch may run here; the exit status is the answer.
      BuildOptions options;
      options.binary = binary;
      options.cache_dir = cache;
      options.reuse_cached = false;
      bool good = true;
      for (int round = 0; round < 20; ++round) {
        const BuildResult result = build_table(options);
        LineTable table;
        good = good && result.error == BuildError::kNone &&
               LineTable::open(result.table.c_str(), table) == nullptr;
      }
      _exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  CHECK(files_in(cache) == 1);
}

TEST_CASE("a table that nobody has used for 60 days goes when another is stored",
          "[linetable][cache]") {
  const TemporaryFolder folder;
  TableCache cache;
  REQUIRE(cache.open(folder / "cache") == nullptr);
  const timespec now = file_clock();
  // Empty, since the kernel may note it, too, when bytes are read.
  const auto store = [&](const std::string& name, int days_unused) {
    REQUIRE(cache.store(name, "", now) == nullptr);
    const timespec times[2] = {{now.tv_sec - days_unused * 86400, 0}, now};
    REQUIRE(utimensat(AT_FDCWD, cache.path_of(name).c_str(), times, 0) == 0);
  };
  store("new.coztable", 0);
  store("used.coztable", 59);
  store("unused.coztable", 61);
  store("unused.txt", 61);
  store("read.cozlayout", 61);
  CHECK(cache.read("read.cozlayout", {}).empty());
  store("another.coztable", 0);
  CHECK(files_in(folder / "cache") == 5);
  CHECK(access(cache.path_of("unused.coztable").c_str(), F_OK) != 0);
}

TEST_CASE("where tables are kept", "[linetable][cache]") {
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  const std::string saved = xdg == nullptr ? "" : xdg;
  setenv("XDG_CACHE_HOME", "/some/where", 1);
  CHECK(default_cache_dir() == "/some/where/coz");
  setenv("XDG_CACHE_HOME", "relative", 1);
  CHECK(default_cache_dir().find("relative") == std::string::npos);
  unsetenv("XDG_CACHE_HOME");
  if (!saved.empty()) setenv("XDG_CACHE_HOME", saved.c_str(), 1);
}
