#include "interpose/event_wakes.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/raw_syscall.h"
#include "interpose/export.h"
#include "kernel/real.h"

namespace coz {
namespace {

// Files that only the kernel has, as eventfds, are of no type.
bool is_still_event(int file) noexcept {
  struct stat status{};
  return raw_syscall(SYS_fstat, file, reinterpret_cast<long>(&status)) == 0 &&
         (status.st_mode & S_IFMT) == 0;
}

}  // namespace

void before_waking_at(ThreadDelays& delays, int file) noexcept {
  EventFiles& files = Session::active()->event_files;
  if (!is_still_event(file)) {
    files.remove(file);
    return;
  }
  const auto epoll = files.watched_by(file);
  delays.before_waking(key_of_file(file), ReleaseTime::kNoted);
  if (epoll) delays.record(key_of_file(*epoll), ReleaseTime::kNoted);
}

}  // namespace coz

COZ_EXPORT int eventfd(unsigned count, int flags) noexcept {
  const int file = COZ_REAL(eventfd)(count, flags);
  if (coz::Session* session = coz::Session::active()) session->event_files.add(file);
  return file;
}

// libc's calls write() by a name of its own.
COZ_EXPORT int eventfd_write(int file, eventfd_t value) {
  return write(file, &value, sizeof value) == sizeof value ? 0 : -1;
}

COZ_EXPORT int epoll_ctl(int epoll, int operation, int file, epoll_event* event) noexcept {
  const int result = COZ_REAL(epoll_ctl)(epoll, operation, file, event);
  coz::Session* session = coz::Session::active();
  if (result == 0 && session != nullptr && operation != EPOLL_CTL_DEL) {
    session->event_files.watch(file, epoll);
  }
  return result;
}
