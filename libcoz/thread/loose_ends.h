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
  enum class End : std::uint8_t { kClient, kServer };

  // The inode of what may be the other end of the connection; else this end stays here, to be found
  // by the other. `connection`: the same for both ends. Several clients may have it one after the
  // other, so that only a client and a server meet.
  std::optional<std::uint32_t> meet(std::uint32_t connection, std::uint32_t inode,
                                    End end) noexcept {
    std::atomic<std::uint64_t>& entry = entries_[place_of(connection)];
    const std::uint64_t found =
        entry.exchange(entry_of(connection, inode, end), std::memory_order_acq_rel);
    const End other = end == End::kClient ? End::kServer : End::kClient;
    const auto met = static_cast<std::uint32_t>(found);
    const bool has_met = met != 0 && found == entry_of(connection, met, other);
    return has_met ? std::optional(met) : std::nullopt;
  }

  // Both ends have met.
  void leave(std::uint32_t connection, std::uint32_t inode, End end) noexcept {
    std::uint64_t own = entry_of(connection, inode, end);
    entries_[place_of(connection)].compare_exchange_strong(own, 0);
  }

 private:
  // Of the connection, the highest bit gives way to which end it is.
  static std::uint64_t entry_of(std::uint32_t connection, std::uint32_t inode, End end) noexcept {
    const std::uint32_t key = connection << 1U | (end == End::kServer ? 1U : 0U);
    return std::uint64_t{key} << 32U | inode;
  }

  static constexpr std::size_t kEntries = 1024;
  // By the product's highest bits, which depend on all of `connection`.
  static std::size_t place_of(std::uint32_t connection) noexcept {
    return connection * 0x9e3779b1U >> 22U;
  }

  std::array<std::atomic<std::uint64_t>, kEntries> entries_{};
};

}  // namespace coz

#endif  // LIBCOZ_THREAD_LOOSE_ENDS_H
