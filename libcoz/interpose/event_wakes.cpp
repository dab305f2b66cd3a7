#include "interpose/event_wakes.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "interpose/export.h"
#include "interpose/streams.h"
#include "kernel/real.h"

namespace coz {
namespace {

// nullptr if the file is none of these, or no longer.
EventFiles* files_with(int file) noexcept {
  Session* session = Session::active();
  if (session == nullptr || !session->event_files.has(file)) return nullptr;
  const auto inode = inode_of(file);
  if (inode && session->event_files.is(file, *inode)) return &session->event_files;
  session->event_files.remove(file);
  return nullptr;
}

void add(int file, int wakes) noexcept {
  Session* session = Session::active();
  const auto inode = session == nullptr ? std::nullopt : inode_of(file);
  if (inode) session->event_files.add(file, *inode, wakes);
}

// The epoll file watches `file` for input, or no longer.
void note_watch(Session& session, int epoll, int file, bool watches) noexcept {
  if (watches) {
    session.event_files.watch(file, epoll);
  } else {
    session.event_files.unwatch(file, epoll);
  }
  const auto inode = session.shared.tree.is_on() ? inode_of(file) : std::nullopt;
  if (!inode) return;
  // Both ends of a pipe have one inode, and several processes may watch it.
  auto& epoll_files = session.shared.epoll_files;
  if (watches) {
    epoll_files.set(*inode, key_of_file(epoll));
  } else if (epoll_files.get(*inode) == key_of_file(epoll)) {
    epoll_files.remove(*inode);
  }
}

// Before the calling thread ends input at the other end of this file, if it is one of these.
void before_ending_at(ThreadDelays& delays, int file) noexcept {
  const EventFiles* files = files_with(file);
  const int other = files == nullptr ? file : files->woken_by(file);
  if (other != file) delays.before_waking(key_of_end(other), ReleaseTime::kNoted);
}

}  // namespace

std::uintptr_t released_at(const ThreadDelays& delays, int file) noexcept {
  if (files_with(file) != nullptr && delays.was_released_meanwhile(key_of_file(file))) {
    return key_of_file(file);
  }
  const auto stream = Session::object_salt() == 0 ? std::nullopt : stream_of(file);
  return stream ? released_meanwhile(delays, polled_in(stream->incoming)) : kNoObject;
}

std::uintptr_t room_released_at(const ThreadDelays& delays, int file) noexcept {
  const auto stream = Session::object_salt() == 0 ? std::nullopt : stream_of(file);
  return stream ? released_meanwhile(delays, room_in(stream->outgoing)) : kNoObject;
}

std::uintptr_t end_released_at(const ThreadDelays& delays, int file) noexcept {
  const bool is_stream = Session::object_salt() != 0 && stream_of(file);
  return is_stream ? released_meanwhile(delays, Session::object_of_any_end()) : kNoObject;
}

std::uintptr_t ended_at(const ThreadDelays& delays, int file) noexcept {
  return released_meanwhile(delays, key_of_end(file));
}

void before_waking_at(ThreadDelays& delays, int file) noexcept {
  const EventFiles* files = files_with(file);
  if (files == nullptr) return;
  const int woken = files->woken_by(file);
  const auto epoll = files->watched_by(woken);
  delays.before_waking(key_of_file(woken), ReleaseTime::kNoted);
  if (epoll) delays.record(key_of_file(*epoll), ReleaseTime::kNoted);
}

void add_pair(const int ends[2]) noexcept {
  add(ends[0], ends[1]);
  add(ends[1], ends[0]);
}

}  // namespace coz

COZ_EXPORT int eventfd(unsigned count, int flags) noexcept {
  const int file = COZ_REAL(eventfd)(count, flags);
  if (file >= 0) coz::add(file, file);
  return file;
}

COZ_EXPORT int pipe(int ends[2]) noexcept {
  const int result = COZ_REAL(pipe)(ends);
  if (result == 0) coz::add_pair(ends);
  return result;
}

COZ_EXPORT int pipe2(int ends[2], int flags) noexcept {
  const int result = COZ_REAL(pipe2)(ends, flags);
  if (result == 0) coz::add_pair(ends);
  return result;
}

// Ends the waits of other threads at this socket, and those at the other end.
COZ_EXPORT int shutdown(int socket, int how) noexcept {
  if (auto delays = coz::Session::current_delays()) {
    if (how != SHUT_WR) delays->before_waking(coz::key_of_end(socket), coz::ReleaseTime::kNoted);
    if (how != SHUT_RD) coz::before_ending_at(*delays, socket);
  }
  return COZ_REAL(shutdown)(socket, how);
}

// Whoever waits for input at the other end is told that there will be none. Not in a child made by
// vfork(), whose descriptors are its own.
COZ_EXPORT int close(int file) {
  if (coz::may_be_event_file(file) && coz::Session::is_in_own_process()) {
    if (auto delays = coz::Session::current_delays()) coz::before_ending_at(*delays, file);
  }
  return COZ_REAL(close)(file);
}

COZ_EXPORT int epoll_ctl(int epoll, int operation, int file, epoll_event* event) noexcept {
  // Event loops (Asio's) wake a thread by watching anew what has input, acceptors by watching a
  // connection whose first request is there already.
  const bool asks = operation != EPOLL_CTL_DEL && event != nullptr;
  if (asks) {
    constexpr std::uint32_t kEvents = POLLIN | POLLPRI | POLLOUT | POLLRDHUP;
    auto delays = coz::Session::current_delays();
    if (delays && coz::is_ready(file, static_cast<short>(event->events & kEvents))) {
      delays->before_waking(coz::key_of_file(epoll), coz::ReleaseTime::kNoted);
    }
  }
  const int result = COZ_REAL(epoll_ctl)(epoll, operation, file, event);
  coz::Session* session = coz::Session::active();
  if (result == 0 && session != nullptr) {
    coz::note_watch(*session, epoll, file, asks && (event->events & EPOLLIN) != 0);
  }
  return result;
}
