// Pipes, pairs of sockets and connections (connections.h), through which processes of a tree wake
// each other (--tree): whoever waits for data, also in poll(), in select() or at an epoll file of
// its own, is woken by the writer, and whoever waits for room in a write by the reader.
//
// Other files, other sockets, and programs without --tree are none of this. Threads of one process:
// event_wakes.h. errno is the real call's.
#ifndef LIBCOZ_INTERPOSE_STREAMS_H
#define LIBCOZ_INTERPOSE_STREAMS_H

#include <poll.h>
#include <sys/stat.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/raw_syscall.h"
#include "interpose/blocking.h"
#include "interpose/event_wakes.h"

namespace coz {

// What the two directions of a stream are known by.
struct Stream {
  std::uint64_t incoming;
  std::uint64_t outgoing;
};

inline std::optional<Stream> stream_of(int file) noexcept {
  struct stat status{};
  if (raw_syscall(SYS_fstat, file, reinterpret_cast<long>(&status)) != 0) return std::nullopt;
  const std::uint64_t inode = status.st_ino;
  if (S_ISFIFO(status.st_mode)) return Stream{inode, inode};
  const Session* session = S_ISSOCK(status.st_mode) ? Session::active() : nullptr;
  if (session == nullptr) return std::nullopt;
  const auto other = session->shared.other_ends.get(inode);
  return other ? std::optional(Stream{inode, *other}) : std::nullopt;
}

inline void pair_sockets(SharedState& shared, std::uint64_t one, std::uint64_t other) noexcept {
  shared.other_ends.set(one, other);
  shared.other_ends.set(other, one);
}

inline std::uintptr_t data_in(std::uint64_t direction) noexcept {
  return made_name(direction * 0xd1342543de82ef95U);
}
// The same for who waits in poll() or select(): recorded with its time, since a write before the
// wait has not ended it.
inline std::uintptr_t polled_in(std::uint64_t direction) noexcept {
  return made_name(direction * 0x8ebc6af09c88c6e3U);
}
inline std::uintptr_t room_in(std::uint64_t direction) noexcept {
  return made_name(direction * 0xaf251af3b0f025b5U);
}

// The key of the epoll file that watches this direction, in whichever process; nullopt: none that
// is known.
inline std::optional<std::uintptr_t> epoll_file_of(std::uint64_t direction) noexcept {
  const Session* session = Session::active();
  return session == nullptr ? std::nullopt : session->shared.epoll_files.get(direction);
}

// A call for `events` would not wait.
inline bool is_ready(int file, short events) noexcept {
  pollfd wanted = {file, events, 0};
  const timespec at_once = {0, 0};
  return raw_syscall(SYS_ppoll, reinterpret_cast<long>(&wanted), 1,
                     reinterpret_cast<long>(&at_once)) != 0;
}

inline std::optional<std::uint64_t> inode_of(int file) noexcept {
  struct stat status{};
  if (raw_syscall(SYS_fstat, file, reinterpret_cast<long>(&status)) != 0) return std::nullopt;
  return status.st_ino;
}

// `object`, if a thread has released it during this thread's wait; or kNoObject.
inline std::uintptr_t released_meanwhile(const ThreadDelays& delays,
                                         std::uintptr_t object) noexcept {
  return object != kNoObject && delays.was_released_meanwhile(object) ? object : kNoObject;
}

// At the end of the data, whoever could write has ended.
template <typename Call>
auto read_stream(ThreadDelays& delays, int file, std::uint64_t direction, Call call) {
  return rules::take_from_stream(
      delays, room_in(direction), [=] { return is_ready(file, POLLIN); }, call,
      [&](long result) {
        if (const auto end = result > 0 ? kNoObject : ended_at(delays, file); end != kNoObject) {
          return end;
        }
        if (result == 0) return released_meanwhile(delays, Session::object_of_any_end());
        const std::uintptr_t data = data_in(direction);
        return result > 0 && delays.was_released(data) ? data : kNoObject;
      });
}

// Where there is some room, only a write that the kernel need not divide surely finds enough.
template <typename Call>
auto write_stream(ThreadDelays& delays, int file, std::size_t size, std::uint64_t direction,
                  Call call) {
  delays.settle();
  delays.record(polled_in(direction), ReleaseTime::kNoted);
  if (const auto epoll = epoll_file_of(direction)) delays.record(*epoll, ReleaseTime::kNoted);
  return rules::put_into_stream(
      delays, data_in(direction), [=] { return size <= PIPE_BUF && is_ready(file, POLLOUT); }, call,
      [&](long result) {
        return result > 0 ? released_meanwhile(delays, room_in(direction)) : kNoObject;
      });
}

// `transfer(delays, stream)` where the file is a stream between processes of a tree, else
// `otherwise()`.
template <typename Transfer, typename Otherwise>
COZ_WRAPPER_PART auto through_stream(int file, Transfer transfer, Otherwise otherwise) {
  auto delays = Session::object_salt() == 0 ? std::nullopt : Session::current_delays();
  const auto stream = delays ? stream_of(file) : std::nullopt;
  if (!stream) return otherwise();
  const KernelCall kernel_call;
  return transfer(*delays, *stream);
}

template <typename Call, typename Otherwise>
COZ_WRAPPER_PART auto read_or(int file, Call call, Otherwise otherwise) {
  return through_stream(
      file,
      [=](ThreadDelays& delays, const Stream& stream) {
        return read_stream(delays, file, stream.incoming, call);
      },
      otherwise);
}

// `size`: of what is to be written, in bytes.
template <typename Call, typename Otherwise>
COZ_WRAPPER_PART auto write_or(int file, std::size_t size, Call call, Otherwise otherwise) {
  return through_stream(
      file,
      [=](ThreadDelays& delays, const Stream& stream) {
        return write_stream(delays, file, size, stream.outgoing, call);
      },
      otherwise);
}

}  // namespace coz

#endif  // LIBCOZ_INTERPOSE_STREAMS_H
