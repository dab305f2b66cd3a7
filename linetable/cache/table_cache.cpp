#include "linetable/cache/table_cache.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <tuple>

#include "common/fnv1a.h"
#include "common/layout_plan_format.h"
#include "common/line_table_format.h"
#include "common/text.h"

namespace coz::linetable {
namespace {

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// XDG asks for folders that only their user may enter.
std::error_code make_folders(const std::string& dir) {
  std::error_code error;
  const mode_t before = umask(077);
  std::filesystem::create_directories(dir, error);
  umask(before);
  return error;
}

bool is_private_file(int fd) {
  struct stat status{};
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Whether `group` is the one that a distribution makes for each user: only we are in it. A user
// without an entry in the system's list, as in a container, has none.
bool is_private_group(gid_t group) {
  const passwd* const user = getpwuid(geteuid());
  if (user == nullptr || user->pw_gid != group) return false;
  const std::string name = user->pw_name;
  const ::group* const members = getgrgid(group);
  if (members == nullptr) return false;
  for (char** member = members->gr_mem; *member != nullptr; ++member) {
    if (name != *member) return false;
  }
  bool alone = true;
  setpwent();
  while (const passwd* const other = getpwent()) {
    alone = alone && (other->pw_gid != group || other->pw_uid == geteuid());
  }
  endpwent();
  return alone;
}

// Why somebody else could replace or truncate a table of ours, which the profiled program maps, and
// what to do about it; nullptr if nobody can.
const char* unsafe_folder(int fd) {
  struct stat status{};
  if (fstat(fd, &status) != 0) return std::strerror(errno);
  if (status.st_uid != geteuid() && status.st_uid != 0) {
    return "it belongs to another user (set XDG_CACHE_HOME to a folder of your own)";
  }
  if ((status.st_mode & S_ISVTX) != 0) return nullptr;
  const bool by_group = (status.st_mode & S_IWGRP) != 0 && !is_private_group(status.st_gid);
  if ((status.st_mode & S_IWOTH) == 0 && !by_group) return nullptr;
  return "others may change what is in it (take their right to write away: chmod go-w)";
}

bool earlier(timespec a, timespec b) {
  return std::tie(a.tv_sec, a.tv_nsec) < std::tie(b.tv_sec, b.tv_nsec);
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::string hexadecimal(std::uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(number));
  return text;
}

std::string unique_suffix() {
  std::uint64_t random = 0;
  if (getrandom(&random, sizeof(random), 0) != sizeof(random)) random = 0;
  return "." + std::to_string(getpid()) + "." + hexadecimal(random) + ".tmp";
}

// A program that is built again and again leaves a table each time, and a helper that is killed its
// temporary file. `used`: when it was last opened; `changed`: when it was written.
bool is_left_over(std::string_view name, timespec used, timespec changed, timespec now) {
  constexpr std::time_t kDay = 24 * 3600;
  constexpr std::time_t kUnusedDays = 60;
  const bool is_temporary = name.ends_with(".tmp") && (name.find(".coztable.") != name.npos ||
                                                       name.find(".cozlayout.") != name.npos);
  if (is_temporary) return changed.tv_sec < now.tv_sec - kDay;
  const bool is_ours = name.ends_with(".coztable") || name.ends_with(".cozlayout");
  return is_ours && used.tv_sec < now.tv_sec - kUnusedDays * kDay;
}

std::uint64_t identity_hash(const ElfFile& binary) {
  const struct stat& status = binary.status();
  std::string identity = binary.path() + '\0';
  for (const std::uint64_t part :
       {static_cast<std::uint64_t>(status.st_size), static_cast<std::uint64_t>(status.st_dev),
        static_cast<std::uint64_t>(status.st_ino),
        static_cast<std::uint64_t>(status.st_mtim.tv_sec),
        static_cast<std::uint64_t>(status.st_mtim.tv_nsec)}) {
    identity.append(reinterpret_cast<const char*>(&part), sizeof(part));
  }
  return fnv1a(identity.data(), identity.size());
}

}  // namespace

std::string default_cache_dir() {
  // The XDG standard says that a relative path is to be ignored.
  const std::string xdg = environment("XDG_CACHE_HOME");
  if (xdg.starts_with('/')) return xdg + "/coz";
  const std::string home = environment("HOME");
  return home.starts_with('/') ? home + "/.cache/coz" : "";
}

std::string table_name(const ElfFile& binary, bool functions) {
  const bool by_file = functions || binary.build_id().empty();
  const std::string key =
      by_file ? "file-" + hexadecimal(identity_hash(binary)) : to_hex(binary.build_id());
  return key + (functions ? "-functions" : "") + "-v" + std::to_string(kLineTableVersion) +
         ".coztable";
}

std::string layout_name(const ElfFile& binary) {
  return "file-" + hexadecimal(identity_hash(binary)) + "-v" + std::to_string(kLayoutPlanVersion) +
         ".cozlayout";
}

timespec last_change(const ElfFile& file) {
  const struct stat& status = file.status();
  return later_of(status.st_mtim, status.st_ctim);
}

timespec later_of(timespec a, timespec b) { return std::max(a, b, earlier); }

timespec file_clock() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now;
}

TableCache::~TableCache() {
  if (fd_ >= 0) close(fd_);
}

const char* TableCache::open(const std::string& dir) {
  if (dir.empty()) return std::strerror(ENOENT);
  if (const std::error_code error = make_folders(dir)) return std::strerror(error.value());
  fd_ = ::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd_ < 0) return std::strerror(errno);
  if (const char* unsafe = unsafe_folder(fd_)) return unsafe;
  // The runtime may run in another folder than the helper, so paths have to be absolute.
  std::error_code error;
  dir_ = std::filesystem::canonical(dir, error);
  return error ? std::strerror(error.value()) : nullptr;
}

int TableCache::open_good(const std::string& name, timespec younger_than) const {
  const int fd = openat(fd_, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat status{};
  if (fd >= 0 && is_private_file(fd) && fstat(fd, &status) == 0 &&
      earlier(younger_than, status.st_mtim)) {
    const timespec used_now[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
    futimens(fd, used_now);  // for remove_left_over(); a read-only folder has nothing to remove
    return fd;
  }
  if (fd >= 0) close(fd);
  return -1;
}

std::vector<std::byte> TableCache::read(const std::string& name, timespec younger_than) const {
  const int fd = open_good(name, younger_than);
  if (fd < 0) return {};
  struct stat status{};
  std::vector<std::byte> bytes;
  if (fstat(fd, &status) == 0) bytes.resize(static_cast<std::size_t>(status.st_size));
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t more = ::read(fd, bytes.data() + filled, bytes.size() - filled);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) break;
    filled += static_cast<std::size_t>(more);
  }
  close(fd);
  if (filled < bytes.size()) return {};
  return bytes;
}

std::optional<LineTable> TableCache::find(const std::string& name, const ElfFile& binary,
                                          timespec younger_than) const {
  const int fd = open_good(name, younger_than);
  if (fd < 0) return std::nullopt;
  LineTable table;
  const bool usable = LineTable::open_descriptor(fd, table) == nullptr;
  close(fd);
  if (!usable || table.base_address() != binary.base_address()) return std::nullopt;
  const auto id = table.build_id();
  const std::size_t size = std::min<std::size_t>(binary.build_id().size(), kMaxBuildIdSize);
  if (!std::equal(id.begin(), id.end(), binary.build_id().begin(),
                  binary.build_id().begin() + static_cast<std::ptrdiff_t>(size))) {
    return std::nullopt;
  }
  return table;
}

const char* TableCache::store(const std::string& name, std::string_view bytes,
                              timespec made_from) const {
  const std::string temporary = "." + name + unique_suffix();
  const int fd =
      openat(fd_, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return std::strerror(errno);
  // The table is as old as what was read, not as its last byte: a binary that was replaced in the
  // meantime has to look younger.
  const timespec times[2] = {{0, UTIME_NOW}, made_from};
  const bool written = write_all(fd, bytes) && futimens(fd, times) == 0;
  const int write_error = errno;
  if (close(fd) == 0 && written && renameat(fd_, temporary.c_str(), fd_, name.c_str()) == 0) {
    remove_left_over();
    return nullptr;
  }
  const int error = written ? errno : write_error;
  unlinkat(fd_, temporary.c_str(), 0);
  return std::strerror(error);
}

void TableCache::remove_left_over() const {
  const timespec now = file_clock();
  std::error_code error;
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator at(dir_, error); at != end; at.increment(error)) {
    const std::string name = at->path().filename();
    struct stat status{};
    if (fstatat(fd_, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode) &&
        is_left_over(name, status.st_atim, status.st_ctim, now)) {
      unlinkat(fd_, name.c_str(), 0);
    }
  }
}

}  // namespace coz::linetable
