#include "kernel/available_cores.h"

#include <sched.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using coz::processor_quota;

namespace {

// A tree of control groups.
class Groups {
 public:
  Groups() {
    char name[] = "/tmp/coz-groups-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    root_ = name;
  }
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;
  ~Groups() { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  const std::string& root() const { return root_; }

 private:
  std::string root_;
};

}  // namespace

TEST_CASE("version 2: the least quota of the group and those above it counts") {
  const Groups groups;
  groups.write("a/b/cpu.max", "max 100000");
  groups.write("a/cpu.max", "150000 100000");
  groups.write("cpu.max", "400000 100000");
  CHECK(processor_quota("0::/a/b\n", groups.root()) == 1.5);
}

TEST_CASE("version 1: quota and period are files of the controller, -1 is none") {
  const Groups groups;
  groups.write("cpu/a/cpu.cfs_quota_us", "50000");
  groups.write("cpu/a/cpu.cfs_period_us", "100000");
  groups.write("cpu/b/cpu.cfs_quota_us", "-1");
  groups.write("cpu/b/cpu.cfs_period_us", "100000");
  CHECK(processor_quota("3:cpuset:/a\n2:cpuacct,cpu:/a\n0::/\n", groups.root()) == 0.5);
  CHECK(processor_quota("2:cpu:/b\n", groups.root()) == std::nullopt);
  CHECK(processor_quota("2:cpuset:/a\n", groups.root()) == std::nullopt);
}

TEST_CASE("the group's path may be that of the host: what is mounted counts") {
  const Groups groups;
  groups.write("cpu.max", "200000 100000");
  CHECK(processor_quota("0::/docker/0123\n", groups.root()) == 2);
}

TEST_CASE("processors that the affinity mask leaves out are not available") {
  cpu_set_t all;
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int i = 0; CPU_COUNT(&one) == 0; ++i) {
    if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
  }
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK(coz::available_cores() == 1);
  REQUIRE(sched_setaffinity(0, sizeof all, &all) == 0);
}
