// Names, numbered in the order in which they come. In memory that processes may share.
//
// Any thread may call find_or_add(), but not in a signal handler; it takes a spin lock for a few
// string comparisons. Names are never removed. The rest is lock-free and signal-safe.
#ifndef LIBCOZ_KERNEL_NAME_TABLE_H
#define LIBCOZ_KERNEL_NAME_TABLE_H

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kernel/shared_lock.h"

namespace coz {

// `kNameSize`: with the NUL.
template <std::uint32_t kSize, std::size_t kNameSize>
class NameTable {
 public:
  static constexpr std::uint32_t kMaxNames = kSize;
  static constexpr std::size_t kMaxName = kNameSize - 1;  // longer names are cut

  // nullopt when the table is full.
  std::optional<std::uint32_t> find_or_add(std::string_view name) noexcept {
    return find_or_add(name, [](std::uint32_t) {});
  }
  // Calls `prepare` with the number of a new name, before any thread can find it.
  template <typename Prepare>
  std::optional<std::uint32_t> find_or_add(std::string_view name, Prepare prepare) noexcept {
    adding_.lock();
    std::optional<std::uint32_t> found = find(name);
    const std::uint32_t size = size_.load(std::memory_order_relaxed);
    if (!found && size < kMaxNames) {
      name = name.substr(0, kMaxName);
      names_[size].fill('\0');  // a thread that was killed here may have left more
      std::copy(name.begin(), name.end(), names_[size].begin());
      prepare(size);
      size_.store(size + 1, std::memory_order_release);
      found = size;
    }
    adding_.unlock();
    return found;
  }

  std::optional<std::uint32_t> find(std::string_view name) const noexcept {
    name = name.substr(0, kMaxName);
    const std::uint32_t size = this->size();
    for (std::uint32_t number = 0; number < size; ++number) {
      if (name == this->name(number)) return number;
    }
    return std::nullopt;
  }

  // True for the first caller only: one to whom find_or_add() has given no number.
  bool is_first_refused() noexcept { return !was_full_.exchange(true, std::memory_order_relaxed); }

  // In a forked child, which has no other thread: a thread of the parent may have held the lock.
  void release_lock() noexcept { adding_.unlock(); }

  std::uint32_t size() const noexcept { return size_.load(std::memory_order_acquire); }
  // For an existing number.
  const char* name(std::uint32_t number) const noexcept { return names_[number].data(); }

 private:
  std::array<std::array<char, kNameSize>, kSize> names_{};
  std::atomic<std::uint32_t> size_{0};
  SharedLock adding_;
  std::atomic<bool> was_full_{false};
};

}  // namespace coz

#endif  // LIBCOZ_KERNEL_NAME_TABLE_H
