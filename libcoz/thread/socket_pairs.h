// Which sockets are the two ends of a pair, by their inodes: a process that writes to one wakes
// another that reads from the other (--tree).
//
// A lossy, direct-mapped table: a newer pair may replace an older one, whose ends are then sockets
// like any other. Any thread; lock-free and signal-safe.
#ifndef LIBCOZ_THREAD_SOCKET_PAIRS_H
#define LIBCOZ_THREAD_SOCKET_PAIRS_H

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace coz {

class SocketPairs {
 public:
  void add(std::uint64_t one, std::uint64_t other) noexcept {
    set(one, other);
    set(other, one);
  }

  // The other end; nullopt if it is no end of a known pair.
  std::optional<std::uint64_t> other_end(std::uint64_t inode) const noexcept {
    const Entry& entry = entries_[place_of(inode)];
    const std::uint64_t check = entry.check.load(std::memory_order_acquire);
    const std::uint64_t other = entry.other.load(std::memory_order_relaxed);
    if (check != mix(inode, other)) return std::nullopt;
    return other;
  }

 private:
  static constexpr std::size_t kEntries = 1024;
  struct Entry {
    std::atomic<std::uint64_t> other{0};
    std::atomic<std::uint64_t> check{0};  // so that a torn entry matches no socket
  };

  static std::size_t place_of(std::uint64_t inode) noexcept { return inode % kEntries; }
  static std::uint64_t mix(std::uint64_t inode, std::uint64_t other) noexcept {
    return (inode * 0x9e3779b97f4a7c15U) ^ (other * 0xc2b2ae3d27d4eb4fU) ^ 0x27d4eb2f165667c5U;
  }
  void set(std::uint64_t inode, std::uint64_t other) noexcept {
    Entry& entry = entries_[place_of(inode)];
    entry.other.store(other, std::memory_order_relaxed);
    entry.check.store(mix(inode, other), std::memory_order_release);
  }

  std::array<Entry, kEntries> entries_{};
};

}  // namespace coz

#endif  // LIBCOZ_THREAD_SOCKET_PAIRS_H
