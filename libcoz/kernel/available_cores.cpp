#include "kernel/available_cores.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "common/text.h"
#include "kernel/small_file.h"

namespace coz {
namespace {

std::string read(const std::string& path) {
  char text[4096];
  return read_small_file(path.c_str(), text) == 0 ? std::string() : std::string(text);
}

// In any unit; "max" and -1 stand for no quota.
std::optional<double> parse_quota(std::string_view quota, std::string_view period) {
  const auto time = parse_number<double>(take_part(quota, '\n'));
  const auto of = parse_number<double>(take_part(period, '\n'));
  if (!time || !of || *time <= 0 || *of <= 0) return std::nullopt;
  return *time / *of;
}

std::optional<double> quota_of(const std::string& directory, bool is_version_2) {
  if (!is_version_2) {
    return parse_quota(read(directory + "/cpu.cfs_quota_us"),
                       read(directory + "/cpu.cfs_period_us"));
  }
  const std::string both = read(directory + "/cpu.max");
  std::string_view period = both;
  const std::string_view quota = take_part(period, ' ');
  return parse_quota(quota, period);
}

bool has_item(const std::string& list, const std::string& item) {
  return ("," + list + ",").find("," + item + ",") != std::string::npos;
}

}  // namespace

// Lines are "NUMBER:CONTROLLERS:PATH". In a container the path may be that of the host, of which
// only the lower end is mounted; what is not there is skipped.
std::optional<double> processor_quota(std::string_view cgroups, const std::string& root) {
  std::optional<double> least;
  while (!cgroups.empty()) {
    std::string_view line = take_part(cgroups, '\n');
    take_part(line, ':');
    const std::string controllers(take_part(line, ':'));
    if (line.empty()) continue;
    const bool is_version_2 = controllers.empty();
    if (!is_version_2 && !has_item(controllers, "cpu")) continue;
    const std::string mounted = is_version_2 ? root : root + "/cpu";
    for (std::string path(line);;) {
      if (path == "/") path.clear();
      if (const auto quota = quota_of(mounted + path, is_version_2)) {
        least = least ? std::min(*least, *quota) : *quota;
      }
      if (path.empty()) break;
      const std::size_t slash = path.rfind('/');
      path.resize(slash == std::string::npos ? 0 : slash);
    }
  }
  return least;
}

namespace {

std::size_t paid_for(std::size_t cores) {
  if (const auto quota = processor_quota(read("/proc/self/cgroup"), "/sys/fs/cgroup")) {
    cores = std::min(cores, static_cast<std::size_t>(std::ceil(*quota)));
  }
  return std::max<std::size_t>(cores, 1);
}

}  // namespace

std::size_t available_cores() {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return machine_cores();
  return paid_for(static_cast<std::size_t>(CPU_COUNT(&mask)));
}

std::size_t machine_cores() { return paid_for(online_cores()); }

std::size_t online_cores() { return static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN)); }

}  // namespace coz
