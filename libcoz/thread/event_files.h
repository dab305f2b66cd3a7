// Which descriptors of this process are eventfds, by which threads of event loops wake each other,
// and which epoll file watches each.
//
// A descriptor may stand for another file once the program has closed it: who uses an entry looks
// first. Any thread; lock-free and signal-safe.
#ifndef LIBCOZ_THREAD_EVENT_FILES_H
#define LIBCOZ_THREAD_EVENT_FILES_H

#include <array>
#include <atomic>
#include <cstddef>
#include <optional>

namespace coz {

class EventFiles {
 public:
  // Higher descriptors are not kept.
  static constexpr int kFiles = 4096;

  void add(int file) noexcept { set(file, kUnwatched); }
  void remove(int file) noexcept { set(file, kNone); }
  // `epoll` watches the file, if that is known.
  void watch(int file, int epoll) noexcept {
    if (has(file)) set(file, kUnwatched + 1 + epoll);
  }

  bool has(int file) const noexcept { return get(file) != kNone; }
  std::optional<int> watched_by(int file) const noexcept {
    const int entry = get(file);
    return entry > kUnwatched ? std::optional(entry - kUnwatched - 1) : std::nullopt;
  }

 private:
  static constexpr int kNone = 0;
  static constexpr int kUnwatched = 1;

  static bool is_kept(int file) noexcept { return file >= 0 && file < kFiles; }
  int get(int file) const noexcept {
    return is_kept(file) ? files_[static_cast<std::size_t>(file)].load(std::memory_order_relaxed)
                         : kNone;
  }
  void set(int file, int entry) noexcept {
    if (!is_kept(file)) return;
    files_[static_cast<std::size_t>(file)].store(entry, std::memory_order_relaxed);
  }

  std::array<std::atomic<int>, kFiles> files_{};
};

}  // namespace coz

#endif  // LIBCOZ_THREAD_EVENT_FILES_H
