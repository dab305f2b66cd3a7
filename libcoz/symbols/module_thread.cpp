#include "symbols/module_thread.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "common/high_descriptor.h"
#include "common/raw_syscall.h"
#include "kernel/message.h"
#include "kernel/own_thread.h"
#include "kernel/thread_time.h"
#include "symbols/loader_listing.h"
#include "symbols/memory_map.h"
#include "symbols/module_watch.h"
#include "symbols/table_service.h"

namespace coz {
namespace {

constexpr Nanoseconds kInterval = 20 * kMillisecond;
constexpr Nanoseconds kMaxStartTime = kSecond;
constexpr Nanoseconds kMaxWaitForLines = 2 * kSecond;

std::optional<std::uint64_t> socket_inode(int descriptor) {
  struct stat status{};
  if (fstat(descriptor, &status) != 0 || !S_ISSOCK(status.st_mode)) return std::nullopt;
  return status.st_ino;
}

std::string stamp_of(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return {};
  std::string stamp;
  for (const auto part :
       {static_cast<long>(status.st_dev), static_cast<long>(status.st_ino),
        static_cast<long>(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec}) {
    stamp += std::to_string(part) + ' ';
  }
  return stamp;
}

bool read_all(int descriptor, std::string& out) {
  out.clear();
  if (raw_syscall(SYS_lseek, descriptor, 0, SEEK_SET) != 0) return false;
  std::array<char, 1U << 14> part;
  long length = 0;
  while ((length = raw_syscall(SYS_read, descriptor, reinterpret_cast<long>(part.data()),
                               static_cast<long>(part.size()))) > 0) {
    out.append(part.data(), static_cast<std::size_t>(length));
  }
  return length == 0;
}

int open_memory_map() {
  const int low = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  return low < 0 ? -1 : move_high(low);
}

}  // namespace

class ModuleThread::World final : public ModuleWorld {
 public:
  World(ModuleThread& thread, int memory_map, std::optional<std::uint64_t> inode)
      : thread_(thread), memory_map_(memory_map), tables_(thread.socket_, inode) {}

  bool has_changed() override {
    if (!thread_.gate_.enter()) return false;
    const LoaderCounts counts = read_loader_counts();
    thread_.gate_.leave();
    return !listed_ || counts != *listed_;
  }

  bool list(std::vector<LoadedFile>& out, std::uint64_t& unloaded) override {
    listed_.reset();
    if (!thread_.gate_.enter()) return false;
    list_loaded_objects(listing_);
    thread_.gate_.leave();
    unloaded = listing_.counts.unloaded;
    bool all_known = listing_.complete;
    std::optional<std::vector<Mapping>> mappings;
    for (const ListedObject& object : listing_.objects) {
      std::string path(listing_.name_of(object));
      // The program itself was handled at the start.
      if (!path.empty() && path.front() != '/') {
        if (!mappings) mappings = read_mappings();
        path = file_at(*mappings, object.object.begin);
        all_known = all_known && !mappings->empty();
      }
      std::string stamp = stamp_of(path);
      out.push_back({object, std::move(path), std::move(stamp)});
    }
    if (all_known) listed_ = listing_.counts;
    return true;
  }

  TableAnswer table_of(const std::string& path) override { return tables_.ask(path); }
  bool make_room(std::uint32_t lines, std::uint32_t functions) override {
    return thread_.make_room_(lines, functions);
  }
  // How many objects had been loaded when all were listed; 0: not all are.
  std::uint64_t seen() const noexcept { return listed_ ? listed_->loaded : 0; }

  void say(const std::string& text) override { message("%s", text.c_str()); }

 private:
  // Empty if they may belong to other objects than those listed.
  std::vector<Mapping> read_mappings() {
    if (!read_all(memory_map_, text_) || !thread_.gate_.enter()) return {};
    const LoaderCounts counts = read_loader_counts();
    thread_.gate_.leave();
    return counts == listing_.counts ? parse_memory_map(text_) : std::vector<Mapping>();
  }

  ModuleThread& thread_;
  int memory_map_;
  TableService tables_;
  std::optional<LoaderCounts> listed_;
  LoaderListing listing_;
  std::string text_;  // of the memory map, which points into it
};

bool ModuleThread::start(int socket, const SourceScope& scope, MakeRoom make_room,
                         std::string& reason) {
  // The number comes from the environment and may be anything.
  if (!socket_inode(socket)) {
    reason = "the socket of coz run is not there";
    return false;
  }
  fcntl(socket, F_SETFD, FD_CLOEXEC);
  socket_ = socket;
  scope_ = scope;
  make_room_ = std::move(make_room);
  pthread_t thread{};
  const int error = modules_.reserve() ? start_own_thread(thread, run, this) : ENOMEM;
  if (error != 0) {
    reason = std::strerror(error);
    close(std::exchange(socket_, -1));
    return false;
  }
  pthread_detach(thread);
  if (ready_.sleep_for(kMaxStartTime)) shares_descriptors_.store(true);  // late: leave it open
  if (!shares_descriptors_.load()) close(socket_);
  return true;
}

void* ModuleThread::run(void* self) {
  const OwnThread own("coz-modules");
  static_cast<ModuleThread*>(self)->watch();
  return nullptr;
}

void ModuleThread::watch() {
  std::array kept = {STDERR_FILENO, socket_};
  if (!hide_descriptors(kept)) shares_descriptors_.store(true);
  const auto inode = socket_inode(socket_);
  ready_.stop();
  const int memory_map = open_memory_map();
  if (memory_map < 0 || !inode) {
    message("/proc/self/maps cannot be read (%s): libraries that are loaded later are not profiled",
            std::strerror(errno));
    return;
  }
  World world(*this, memory_map, inode);
  ModuleWatch modules(modules_, scope_, world);
  can_be_waited_for_.store(true);
  do {
    modules.look();
    seen_.store(world.seen(), std::memory_order_release);
  } while (stop_.sleep_for(kInterval));
  can_be_waited_for_.store(false);
}

void ModuleThread::wait_for_lines() noexcept {
  const Nanoseconds give_up = now() + kMaxWaitForLines;
  while (can_be_waited_for_.load() &&
         seen_.load(std::memory_order_acquire) < read_loader_counts().loaded) {
    pause_until(now() + kMillisecond);
    if (now() < give_up || !can_be_waited_for_.exchange(false)) continue;
    message(
        "the lines of libraries were not known within two seconds: processes that are forked "
        "from here on may know none of libraries that have just been loaded");
  }
}

void ModuleThread::in_forked_child() noexcept {
  if (socket_ < 0 || !shares_descriptors_.load(std::memory_order_relaxed)) return;
  raw_syscall(SYS_close, socket_);
}

}  // namespace coz
