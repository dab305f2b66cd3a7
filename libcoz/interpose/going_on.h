// How poll(), select() and epoll_wait() go on after a time-out, for as long as the thread owes; and
// what that takes: the mask of the call, and the sets that it awaits.
//
// In any thread of the program, within one call. Nothing allocates; errno is the real call's.
#ifndef LIBCOZ_INTERPOSE_GOING_ON_H
#define LIBCOZ_INTERPOSE_GOING_ON_H

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "interpose/blocking.h"
#include "kernel/real.h"
#include "signals/program_signals.h"

namespace coz {

// The mask of a call that has one of its own, as the kernel gets it; nullptr stays nullptr.
class MaskOfCall {
 public:
  constexpr explicit MaskOfCall(const sigset_t* mask) noexcept : is_given_(mask != nullptr) {
    if (is_given_) mask_ = program_signals.mask_of_wait(*mask);
  }
  const sigset_t* get() const noexcept { return is_given_ ? &mask_ : nullptr; }
  // Whether only a sample can have ended a call.
  bool is_repeated(int result) const noexcept { return !is_given_ && is_interrupted(result); }

 private:
  bool is_given_;
  sigset_t mask_{};
};

// The sets of select(), which a time-out empties. `has_timeout`: whether they may be needed again.
class AwaitedSets {
 public:
  AwaitedSets(int count, fd_set* read, fd_set* write, fd_set* except, bool has_timeout) noexcept
      : size_(count < 0 || count > FD_SETSIZE ? 0 : (count + 63U) / 64 * 8),
        sets_{read, write, except} {
    if (!has_timeout || Session::active() == nullptr) size_ = 0;
    for_each([this](fd_set* set, fd_set& saved) { std::memcpy(&saved, set, size_); });
  }
  // Returns false where nothing is awaited, or they are too large to be known.
  bool restore() noexcept {
    for_each([this](fd_set* set, const fd_set& saved) { std::memcpy(set, &saved, size_); });
    return size_ != 0;
  }
  void empty() noexcept {
    for_each([this](fd_set* set, const fd_set&) { std::memset(set, 0, size_); });
  }

 private:
  template <typename Visit>
  void for_each(Visit visit) noexcept {
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      if (sets_[i] != nullptr) visit(sets_[i], saved_[i]);
    }
  }

  std::size_t size_;  // programs may have less room than an fd_set
  std::array<fd_set*, 3> sets_;
  std::array<fd_set, 3> saved_;
};

// Each waits for `left`. Another thread may have closed a file meanwhile, which a wait that lasts
// does not see.
inline auto poll_again(pollfd* files, nfds_t count, const MaskOfCall& mask) noexcept {
  return [=, &mask](const timespec* left) {
    int ready = COZ_REAL(ppoll)(files, count, left, mask.get());
    for (pollfd* file = files; ready > 0 && file != files + count; ++file) {
      if ((file->revents & POLLNVAL) == 0) continue;
      file->revents = 0;
      --ready;
    }
    return ready;
  };
}
inline auto select_again(AwaitedSets& sets, int count, fd_set* read, fd_set* write, fd_set* except,
                         const MaskOfCall& mask) noexcept {
  return [=, &sets, &mask](const timespec* left) {
    if (!sets.restore()) return 0;
    const int ready = COZ_REAL(pselect)(count, read, write, except, left, mask.get());
    if (ready < 0 && errno != EINTR) sets.empty();
    return ready;
  };
}

// An epoll file is ready for input when it has events.
inline auto epoll_again(int epoll, epoll_event* events, int most, const MaskOfCall& mask) noexcept {
  return [=, &mask](const timespec* left) {
    pollfd file = {epoll, POLLIN, 0};
    const int ready = COZ_REAL(ppoll)(&file, 1, left, mask.get());
    return ready > 0 ? COZ_REAL(epoll_wait)(epoll, events, most, 0) : ready;
  };
}

}  // namespace coz

#endif  // LIBCOZ_INTERPOSE_GOING_ON_H
