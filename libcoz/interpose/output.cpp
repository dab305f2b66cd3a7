// Writing, sending, files: the kernel's time in these calls counts for the line that makes them.
// They may block, but a thread that does so pays in full afterwards, which is the rule for external
// waits (docs/blocking_calls.md). So nothing is accounted here, unless waits are targets, and no
// call is repeated.
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "interpose/blocking.h"
#include "interpose/export.h"
#include "interpose/kernel_call.h"
#include "kernel/real.h"

namespace {

using coz::WaitClass;

template <typename Call>
COZ_WRAPPER_PART auto call_outside(WaitClass wait_class, Call call) {
  if (coz::Session::follows_waits()) return coz::wait_outside(wait_class, call);
  const coz::KernelCall kernel_call;
  return call();
}

}  // namespace

COZ_EXPORT ssize_t write(int file, const void* data, size_t size) {
  return call_outside(WaitClass::kIo, [=] { return COZ_REAL(write)(file, data, size); });
}

COZ_EXPORT ssize_t writev(int file, const iovec* parts, int count) {
  return call_outside(WaitClass::kIo, [=] { return COZ_REAL(writev)(file, parts, count); });
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

COZ_EXPORT ssize_t send(int socket, const void* data, size_t size, int flags) {
  return call_outside(WaitClass::kNetwork,
                      [=] { return COZ_REAL(send)(socket, data, size, flags); });
}

COZ_EXPORT ssize_t sendto(int socket, const void* data, size_t size, int flags,
                          const sockaddr* address, socklen_t address_size) {
  return call_outside(WaitClass::kNetwork, [=] {
    return COZ_REAL(sendto)(socket, data, size, flags, address, address_size);
  });
}

COZ_EXPORT ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  return call_outside(WaitClass::kNetwork,
                      [=] { return COZ_REAL(sendmsg)(socket, message, flags); });
}

COZ_EXPORT int fsync(int file) {
  return call_outside(WaitClass::kIo, [=] { return COZ_REAL(fsync)(file); });
}

COZ_EXPORT int fdatasync(int file) {
  return call_outside(WaitClass::kIo, [=] { return COZ_REAL(fdatasync)(file); });
}
