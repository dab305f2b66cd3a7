// Writing, sending, files: the kernel's time in these calls counts for the line that makes them.
// They may block, but a thread that does so pays in full afterwards, which is the rule for external
// waits (docs/blocking_calls.md). So nothing is accounted here, unless waits are targets, and no
// call is repeated. But threads wake each other through eventfds, pipes, pairs of sockets and
// connections (event_wakes.h), and processes through all but the first, with --tree (streams.h).
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "interpose/blocking.h"
#include "interpose/event_wakes.h"
#include "interpose/export.h"
#include "interpose/kernel_call.h"
#include "interpose/streams.h"
#include "kernel/real.h"

namespace {

using coz::WaitClass;

template <typename Call>
COZ_WRAPPER_PART auto call_outside(WaitClass wait_class, Call call) {
  if (coz::Session::follows_waits()) return coz::wait_outside(wait_class, call);
  const coz::KernelCall kernel_call;
  return call();
}

template <typename Call>
COZ_WRAPPER_PART ssize_t write_file(WaitClass wait_class, int file, size_t size, Call call) {
  return coz::write_or(file, size, call, [=] { return call_outside(wait_class, call); });
}

// Where only the kernel may read how much it is.
constexpr size_t kUnknown = SIZE_MAX;

}  // namespace

COZ_EXPORT ssize_t write(int file, const void* data, size_t size) {
  coz::before_writing(file);
  return write_file(WaitClass::kIo, file, size, [=] { return COZ_REAL(write)(file, data, size); });
}

COZ_EXPORT int eventfd_write(int file, eventfd_t value) {
  coz::before_writing(file);
  const ssize_t written = write_file(WaitClass::kIo, file, sizeof value,
                                     [=] { return COZ_REAL(write)(file, &value, sizeof value); });
  return written == sizeof value ? 0 : -1;
}

COZ_EXPORT ssize_t writev(int file, const iovec* parts, int count) {
  coz::before_writing(file);
  return write_file(WaitClass::kIo, file, kUnknown,
                    [=] { return COZ_REAL(writev)(file, parts, count); });
}

COZ_EXPORT ssize_t pwrite(int file, const void* data, size_t size, off_t offset) {
  return call_outside(WaitClass::kIo, [=] { return COZ_REAL(pwrite)(file, data, size, offset); });
}

COZ_EXPORT ssize_t pwrite64(int file, const void* data, size_t size, off64_t offset) {
  return call_outside(WaitClass::kIo, [=] { return COZ_REAL(pwrite64)(file, data, size, offset); });
}

COZ_EXPORT ssize_t pread(int file, void* buffer, size_t size, off_t offset) {
  return call_outside(WaitClass::kIo, [=] { return COZ_REAL(pread)(file, buffer, size, offset); });
}

COZ_EXPORT ssize_t pread64(int file, void* buffer, size_t size, off64_t offset) {
  return call_outside(WaitClass::kIo,
                      [=] { return COZ_REAL(pread64)(file, buffer, size, offset); });
}

COZ_EXPORT ssize_t __pread_chk(int file, void* buffer, size_t size, off_t offset, size_t room) {
  return call_outside(WaitClass::kIo,
                      [=] { return COZ_REAL(__pread_chk)(file, buffer, size, offset, room); });
}

COZ_EXPORT ssize_t __pread64_chk(int file, void* buffer, size_t size, off64_t offset, size_t room) {
  return call_outside(WaitClass::kIo,
                      [=] { return COZ_REAL(__pread64_chk)(file, buffer, size, offset, room); });
}

COZ_EXPORT ssize_t send(int socket, const void* data, size_t size, int flags) {
  coz::before_writing(socket);
  return write_file(WaitClass::kNetwork, socket, size,
                    [=] { return COZ_REAL(send)(socket, data, size, flags); });
}

COZ_EXPORT ssize_t sendto(int socket, const void* data, size_t size, int flags,
                          const sockaddr* address, socklen_t address_size) {
  coz::before_writing(socket);
  return write_file(WaitClass::kNetwork, socket, size, [=] {
    return COZ_REAL(sendto)(socket, data, size, flags, address, address_size);
  });
}

COZ_EXPORT ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  coz::before_writing(socket);
  return write_file(WaitClass::kNetwork, socket, kUnknown,
                    [=] { return COZ_REAL(sendmsg)(socket, message, flags); });
}

COZ_EXPORT int sendmmsg(int socket, mmsghdr* messages, unsigned count, int flags) {
  coz::before_writing(socket);
  return static_cast<int>(write_file(WaitClass::kNetwork, socket, kUnknown, [=]() -> ssize_t {
    return COZ_REAL(sendmmsg)(socket, messages, count, flags);
  }));
}

COZ_EXPORT int socketpair(int domain, int type, int protocol, int ends[2]) noexcept {
  const int result = COZ_REAL(socketpair)(domain, type, protocol, ends);
  coz::Session* session = coz::Session::active();
  if (result != 0 || session == nullptr) return result;
  coz::add_pair(ends);
  if (!session->shared.tree.is_on()) return result;
  const auto one = coz::inode_of(ends[0]);
  const auto other = coz::inode_of(ends[1]);
  if (one && other) coz::pair_sockets(session->shared, *one, *other);
  return result;
}

COZ_EXPORT int fsync(int file) {
  return call_outside(WaitClass::kIo, [=] { return COZ_REAL(fsync)(file); });
}

COZ_EXPORT int fdatasync(int file) {
  return call_outside(WaitClass::kIo, [=] { return COZ_REAL(fdatasync)(file); });
}
