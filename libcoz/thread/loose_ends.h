// Sockets of connections within this machine whose other end is not known yet: each end looks for
// the other here, by both ports, or by a hash of the client's name (Unix sockets).
//
// A lossy, direct-mapped table: if an entry is replaced, its ends do not meet.
// Any thread; lock-free and signal-safe.
#ifndef LIBCOZ_THREAD_LOOSE_ENDS_H
#define LIBCOZ_THREAD_LOOSE_ENDS_H

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace coz {

class LooseEnds {
 public:
  // The inode of what may be the other end of the connection; else this end stays here, to be found
  // by the other. `connection`: the same for both ends.
  std::optional<std::uint32_t> meet(std::uint32_t connection, std::uint32_t inode) noexcept {
    std::atomic<std::uint64_t>& entry = entries_[place_of(connection)];
    const std::uint64_t own = std::uint64_t{connection} << 32U | inode;
    const std::uint64_t found = entry.exchange(own, std::memory_order_acq_rel);
    if (found >> 32U != connection || found == own) return std::nullopt;
    return static_cast<std::uint32_t>(found);
  }

  // Both ends have met.
  void leave(std::uint32_t connection, std::uint32_t inode) noexcept {
    std::uint64_t own = std::uint64_t{connection} << 32U | inode;
    entries_[place_of(connection)].compare_exchange_strong(own, 0);
  }

 private:
  static constexpr std::size_t kEntries = 1024;
  // By the product's highest bits, which depend on all of `connection`.
  static std::size_t place_of(std::uint32_t connection) noexcept {
    return connection * 0x9e3779b1U >> 22U;
  }

  std::array<std::atomic<std::uint64_t>, kEntries> entries_{};
};

}  // namespace coz

#endif  // LIBCOZ_THREAD_LOOSE_ENDS_H
