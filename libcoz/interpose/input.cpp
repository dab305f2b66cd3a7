// Waiting for files, sockets and events: something external wakes the thread, so there is no
// credit, unless a signal of another thread ended the wait (signal_wakes.h), or its write to an
// eventfd, a pipe, a pair of sockets or a connection (event_wakes.h), or its connect()
// (connections.h).
//
// With --tree, processes wake each other through all of these but eventfds (streams.h).
//
// Calls with a time-out end early when a signal handler runs, SA_RESTART or not: past_samples()
// repeats them with the time that is left. The kernel restarts the others. Calls with a mask block
// samples.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "interpose/blocking.h"
#include "interpose/connections.h"
#include "interpose/event_wakes.h"
#include "interpose/export.h"
#include "interpose/going_on.h"
#include "interpose/streams.h"
#include "kernel/real.h"

namespace {

using coz::AwaitedSets;
using coz::is_interrupted;
using coz::kMillisecond;
using coz::kSecond;
using coz::MaskOfCall;
using coz::Nanoseconds;
using coz::OutsideWait;
using coz::ThreadDelays;
using coz::WaitClass;

constexpr MaskOfCall kNoMask(nullptr);

// What a thread of the program has released at this file by which it woke this one; or kNoObject.
std::uintptr_t released_at(const ThreadDelays& delays, const pollfd& file) noexcept {
  std::uintptr_t object = coz::kNoObject;
  if ((file.revents & POLLIN) != 0) object = coz::released_at(delays, file.fd);
  if (object == coz::kNoObject && file.revents != 0) object = coz::ended_at(delays, file.fd);
  if (object == coz::kNoObject && (file.revents & POLLHUP) != 0) {
    object = coz::end_released_at(delays, file.fd);
  }
  if (object == coz::kNoObject && (file.revents & POLLOUT) != 0) {
    object = coz::room_released_at(delays, file.fd);
  }
  return object;
}
std::uintptr_t released_at(const ThreadDelays& delays, const pollfd* files, nfds_t count) noexcept {
  for (const pollfd* file = files; file != files + count; ++file) {
    const std::uintptr_t object = released_at(delays, *file);
    if (object != coz::kNoObject) return object;
  }
  return coz::kNoObject;
}
std::uintptr_t released_at(const ThreadDelays& delays, int count, const fd_set* read) noexcept {
  for (int file = 0; read != nullptr && file < std::min(count, FD_SETSIZE); ++file) {
    if (!FD_ISSET(file, read)) continue;
    std::uintptr_t object = coz::released_at(delays, file);
    if (object == coz::kNoObject) object = coz::ended_at(delays, file);
    if (object != coz::kNoObject) return object;
  }
  return coz::kNoObject;
}
std::uintptr_t released_at_epoll(const ThreadDelays& delays, int epoll) noexcept {
  return coz::released_meanwhile(delays, coz::key_of_file(epoll));
}

// `again(left)` goes on with a wait that has timed out. It must not round `left` up: the thread
// would sleep too long. Errors then, as of a file that has been closed, do not replace the
// time-out.
template <typename Call, typename Again, typename Released>
COZ_WRAPPER_PART int wait_within(Nanoseconds timeout, const MaskOfCall& mask, Call call,
                                 Again again, Released released) {
  const OutsideWait outside(WaitClass::kPoll, timeout);
  // Without a time-out there is nothing to go on from, and a call that does not wait must not begin
  // to.
  if (timeout == OutsideWait::kNever || timeout <= 0) {
    return coz::wait_outside(outside, call, released);
  }
  const auto again_past_samples = [again, &mask](Nanoseconds left) {
    const int saved = errno;
    const timespec time = {left / kSecond, left % kSecond};
    const int result = coz::past_samples_within(
        &time, again, [&mask](int ended) { return mask.is_repeated(ended); });
    if (result >= 0 || errno == EINTR) return result;
    errno = saved;
    return 0;
  };
  return coz::wait_outside_until(outside, call, again_past_samples, released);
}

// `call` gets the time-out in milliseconds; below 0 means none. `released`: wait_outside()'s.
template <typename Call, typename Again, typename Released>
COZ_WRAPPER_PART int with_milliseconds(int timeout, const MaskOfCall& mask, Call call, Again again,
                                       Released released) {
  const auto repeated = [=, &mask] {
    coz::Remaining remaining(timeout < 0 ? 0 : timeout * kMillisecond);
    return coz::past_samples(
        [&] {
          if (timeout < 0) return call(timeout);
          // Rounded up: a wait may be longer than asked for, but not shorter.
          return call(static_cast<int>((remaining.get() + kMillisecond - 1) / kMillisecond));
        },
        [&mask](int result) { return mask.is_repeated(result); });
  };
  const Nanoseconds limit = timeout < 0 ? OutsideWait::kNever : timeout * kMillisecond;
  return wait_within(limit, mask, repeated, again, released);
}

template <typename Call, typename Again, typename Released>
COZ_WRAPPER_PART int with_timespec(const timespec* timeout, const MaskOfCall& mask, Call call,
                                   Again again, Released released) {
  const auto repeated = [=, &mask] {
    return coz::past_samples_within(timeout, call,
                                    [&mask](int result) { return mask.is_repeated(result); });
  };
  const Nanoseconds limit =
      timeout == nullptr ? OutsideWait::kNever : coz::nanoseconds_of(*timeout);
  return wait_within(limit, mask, repeated, again, released);
}

// Waits for input for what is left of SO_RCVTIMEO since `start`. False, with the errno of the call,
// if none came.
bool wait_on(int socket, Nanoseconds start) {
  timeval limit{};
  socklen_t size = sizeof limit;
  if (getsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, &size) != 0) return true;
  const Nanoseconds whole = coz::nanoseconds_of({limit.tv_sec, limit.tv_usec * 1000});
  if (whole == 0) return true;
  const Nanoseconds left = start + whole - coz::now();
  if (left > 0) {
    pollfd input = {socket, POLLIN, 0};
    const timespec rest = {left / kSecond, left % kSecond};
    const int ready = COZ_REAL(ppoll)(&input, 1, &rest, nullptr);
    if (ready != 0) return ready > 0;
  }
  errno = EAGAIN;
  return false;
}

// The kernel restarts these, but for sockets with SO_RCVTIMEO.
// `released`: wait_outside()'s.
template <typename Call, typename Released>
COZ_WRAPPER_PART auto receive(int socket, Call call, Released released) {
  const auto repeated = [=] {
    const Nanoseconds start = coz::now();
    bool is_first = true;
    return coz::past_samples(
        [&] {
          using Result = decltype(call());
          if (!is_first && !wait_on(socket, start)) return static_cast<Result>(-1);
          is_first = false;
          return call();
        },
        [](long result) { return is_interrupted(result); });
  };
  constexpr auto kWait = OutsideWait(WaitClass::kNetwork).and_ends();
  return coz::read_or(socket, repeated,
                      [=] { return coz::wait_outside(kWait, repeated, released); });
}
template <typename Call>
COZ_WRAPPER_PART auto receive(int socket, Call call) {
  return receive(socket, call, [=](const ThreadDelays& delays, long received) {
    return received > 0 ? coz::released_at(delays, socket) : coz::ended_at(delays, socket);
  });
}

template <typename Call>
COZ_WRAPPER_PART int accept_connection(int socket, Call call) {
  const int connection = receive(socket, call, [=](const ThreadDelays& delays, long accepted) {
    if (accepted < 0) return coz::ended_at(delays, socket);
    return coz::released_by_connecting(delays, socket, static_cast<int>(accepted));
  });
  coz::add_accepted(socket, connection);
  return connection;
}

template <typename Call>
COZ_WRAPPER_PART ssize_t read_file(int file, Call call) {
  return coz::read_or(file, call, [=] {
    constexpr auto kWait = OutsideWait(WaitClass::kIo).and_ends();
    return coz::wait_outside(kWait, call, [=](const ThreadDelays& delays, long size) {
      return size > 0 ? coz::released_at(delays, file) : coz::ended_at(delays, file);
    });
  });
}

}  // namespace

COZ_EXPORT int poll(pollfd* files, nfds_t count, int timeout) {
  return with_milliseconds(
      timeout, kNoMask, [=](int ms) { return COZ_REAL(poll)(files, count, ms); },
      coz::poll_again(files, count, kNoMask),
      [=](const ThreadDelays& delays, long) { return released_at(delays, files, count); });
}

COZ_EXPORT int ppoll(pollfd* files, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  const MaskOfCall own(mask);
  return with_timespec(
      timeout, own, [&](const timespec* t) { return COZ_REAL(ppoll)(files, count, t, own.get()); },
      coz::poll_again(files, count, own),
      [=](const ThreadDelays& delays, long) { return released_at(delays, files, count); });
}

// The kernel writes what is left to `timeout`.
COZ_EXPORT int select(int count, fd_set* read, fd_set* write, fd_set* except, timeval* timeout) {
  const auto repeated = [=] {
    return coz::past_samples([=] { return COZ_REAL(select)(count, read, write, except, timeout); },
                             [](int result) { return is_interrupted(result); });
  };
  const Nanoseconds limit = timeout == nullptr
                                ? OutsideWait::kNever
                                : coz::nanoseconds_of({timeout->tv_sec, timeout->tv_usec * 1000});
  AwaitedSets sets(count, read, write, except, timeout != nullptr);
  return wait_within(
      limit, kNoMask, repeated, coz::select_again(sets, count, read, write, except, kNoMask),
      [=](const ThreadDelays& delays, long) { return released_at(delays, count, read); });
}

COZ_EXPORT int pselect(int count, fd_set* read, fd_set* write, fd_set* except,
                       const timespec* timeout, const sigset_t* mask) {
  const MaskOfCall own(mask);
  AwaitedSets sets(count, read, write, except, timeout != nullptr);
  return with_timespec(
      timeout, own,
      [&](const timespec* t) {
        return COZ_REAL(pselect)(count, read, write, except, t, own.get());
      },
      coz::select_again(sets, count, read, write, except, own),
      [=](const ThreadDelays& delays, long) { return released_at(delays, count, read); });
}

COZ_EXPORT int epoll_wait(int epoll, epoll_event* events, int most, int timeout) {
  return with_milliseconds(
      timeout, kNoMask, [=](int ms) { return COZ_REAL(epoll_wait)(epoll, events, most, ms); },
      coz::epoll_again(epoll, events, most, kNoMask),
      [=](const ThreadDelays& delays, long) { return released_at_epoll(delays, epoll); });
}

COZ_EXPORT int epoll_pwait(int epoll, epoll_event* events, int most, int timeout,
                           const sigset_t* mask) {
  const MaskOfCall own(mask);
  return with_milliseconds(
      timeout, own,
      [&](int ms) { return COZ_REAL(epoll_pwait)(epoll, events, most, ms, own.get()); },
      coz::epoll_again(epoll, events, most, own),
      [=](const ThreadDelays& delays, long) { return released_at_epoll(delays, epoll); });
}

COZ_EXPORT int epoll_pwait2(int epoll, epoll_event* events, int most, const timespec* timeout,
                            const sigset_t* mask) {
  const MaskOfCall own(mask);
  return with_timespec(
      timeout, own,
      [&](const timespec* t) { return COZ_REAL(epoll_pwait2)(epoll, events, most, t, own.get()); },
      coz::epoll_again(epoll, events, most, own),
      [=](const ThreadDelays& delays, long) { return released_at_epoll(delays, epoll); });
}

COZ_EXPORT ssize_t read(int file, void* buffer, size_t size) {
  return read_file(file, [=] { return COZ_REAL(read)(file, buffer, size); });
}

COZ_EXPORT int eventfd_read(int file, eventfd_t* value) {
  const ssize_t size = read_file(file, [=] { return COZ_REAL(read)(file, value, sizeof *value); });
  return size == sizeof *value ? 0 : -1;
}

COZ_EXPORT ssize_t readv(int file, const iovec* parts, int count) {
  return read_file(file, [=] { return COZ_REAL(readv)(file, parts, count); });
}

COZ_EXPORT ssize_t recv(int socket, void* buffer, size_t size, int flags) {
  return receive(socket, [=] { return COZ_REAL(recv)(socket, buffer, size, flags); });
}

COZ_EXPORT ssize_t recvfrom(int socket, void* buffer, size_t size, int flags, sockaddr* address,
                            socklen_t* address_size) {
  return receive(socket, [=] {
    return COZ_REAL(recvfrom)(socket, buffer, size, flags, address, address_size);
  });
}

COZ_EXPORT ssize_t recvmsg(int socket, msghdr* message, int flags) {
  return receive(socket, [=] { return COZ_REAL(recvmsg)(socket, message, flags); });
}

COZ_EXPORT int recvmmsg(int socket, mmsghdr* messages, unsigned count, int flags,
                        timespec* timeout) {
  return receive(socket,
                 [=] { return COZ_REAL(recvmmsg)(socket, messages, count, flags, timeout); });
}

COZ_EXPORT int accept(int socket, sockaddr* address, socklen_t* address_size) {
  return accept_connection(socket, [=] { return COZ_REAL(accept)(socket, address, address_size); });
}

COZ_EXPORT int accept4(int socket, sockaddr* address, socklen_t* address_size, int flags) {
  return accept_connection(socket,
                           [=] { return COZ_REAL(accept4)(socket, address, address_size, flags); });
}

// NOLINTBEGIN(bugprone-reserved-identifier)
COZ_EXPORT int __poll_chk(pollfd* files, nfds_t count, int timeout, size_t room) {
  return with_milliseconds(
      timeout, kNoMask, [=](int ms) { return COZ_REAL(__poll_chk)(files, count, ms, room); },
      coz::poll_again(files, count, kNoMask),
      [=](const ThreadDelays& delays, long) { return released_at(delays, files, count); });
}

COZ_EXPORT int __ppoll_chk(pollfd* files, nfds_t count, const timespec* timeout,
                           const sigset_t* mask, size_t room) {
  const MaskOfCall own(mask);
  return with_timespec(
      timeout, own,
      [&](const timespec* t) { return COZ_REAL(__ppoll_chk)(files, count, t, own.get(), room); },
      coz::poll_again(files, count, own),
      [=](const ThreadDelays& delays, long) { return released_at(delays, files, count); });
}

COZ_EXPORT ssize_t __read_chk(int file, void* buffer, size_t size, size_t room) {
  return read_file(file, [=] { return COZ_REAL(__read_chk)(file, buffer, size, room); });
}

COZ_EXPORT ssize_t __recv_chk(int socket, void* buffer, size_t size, size_t room, int flags) {
  return receive(socket, [=] { return COZ_REAL(__recv_chk)(socket, buffer, size, room, flags); });
}

COZ_EXPORT ssize_t __recvfrom_chk(int socket, void* buffer, size_t size, size_t room, int flags,
                                  sockaddr* address, socklen_t* address_size) {
  return receive(socket, [=] {
    return COZ_REAL(__recvfrom_chk)(socket, buffer, size, room, flags, address, address_size);
  });
}
// NOLINTEND(bugprone-reserved-identifier)
