// Which descriptors of this process are eventfds, or ends of pipes, pairs of sockets and
// connections to itself, by which threads wake each other, and which epoll file watches each.
//
// A descriptor may stand for another file once the program has closed it: who uses an entry
// compares the inode first. Any thread; lock-free and signal-safe.
#ifndef LIBCOZ_THREAD_EVENT_FILES_H
#define LIBCOZ_THREAD_EVENT_FILES_H

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace coz {

class EventFiles {
 public:
  // Higher descriptors are not kept.
  static constexpr int kFiles = 4096;

  // A write to `file`, which has this inode, wakes who waits for input at `wakes`: the same
  // descriptor, if it is an eventfd.
  void add(int file, std::uint64_t inode, int wakes) noexcept {
    if (!is_kept(file) || !is_kept(wakes)) return;
    entry_of(file).store({number_of(inode), static_cast<std::uint16_t>(wakes + 1), 0});
  }
  // `file` is one end of a connection whose other end is not known yet.
  void expect(int file, std::uint64_t inode) noexcept {
    if (!is_kept(file)) return;
    change(file, [=](Entry& entry) {
      if (entry.inode == number_of(inode)) return false;
      entry = {number_of(inode), 0, 0};
      return true;
    });
  }
  // That end is known now: add(), for a file that was expected.
  void connect(int file, std::uint64_t inode, int wakes) noexcept {
    if (!is_kept(file) || !is_kept(wakes)) return;
    change(file, [=](Entry& entry) {
      entry.wakes = static_cast<std::uint16_t>(wakes + 1);
      return entry.inode == number_of(inode);
    });
  }
  // The file with this inode, or -1.
  int find(std::uint32_t inode) const noexcept {
    for (int file = 0; file < kFiles; ++file) {
      if (entry_of(file).load().inode == inode) return file;
    }
    return -1;
  }
  void remove(int file) noexcept {
    if (is_kept(file)) entry_of(file).store({});
  }
  // `epoll` watches the file, or no longer.
  void watch(int file, int epoll) noexcept {
    if (!is_kept(file) || !is_kept(epoll)) return;
    change(file, [=](Entry& entry) {
      entry.epoll = static_cast<std::uint16_t>(epoll + 1);
      return entry.inode != 0;
    });
  }
  void unwatch(int file, int epoll) noexcept {
    if (!is_kept(file)) return;
    change(file, [=](Entry& entry) {
      const bool watches = entry.epoll == epoll + 1;
      entry.epoll = 0;
      return watches;
    });
  }

  bool has(int file) const noexcept { return is_kept(file) && entry_of(file).load().wakes != 0; }
  bool is(int file, std::uint64_t inode) const noexcept {
    return has(file) && entry_of(file).load().inode == number_of(inode);
  }
  // Of a file that is kept.
  int woken_by(int file) const noexcept { return entry_of(file).load().wakes - 1; }
  std::optional<int> watched_by(int file) const noexcept {
    const int epoll = has(file) ? entry_of(file).load().epoll : 0;
    return epoll != 0 ? std::optional(epoll - 1) : std::nullopt;
  }

 private:
  struct Entry {
    std::uint32_t inode = 0;  // its lowest bits; 0: not kept
    std::uint16_t wakes = 0;  // + 1; 0: none that is known
    std::uint16_t epoll = 0;  // + 1; 0: none that is known
  };
  using AtomicEntry = std::atomic<Entry>;
  static_assert(AtomicEntry::is_always_lock_free);

  static std::uint32_t number_of(std::uint64_t inode) noexcept {
    return static_cast<std::uint32_t>(inode);
  }
  // Both ends of a connection change its entries, and so does epoll_ctl(). `change`: false to leave
  // the entry as it is.
  template <typename Change>
  void change(int file, Change change) noexcept {
    AtomicEntry& place = entry_of(file);
    Entry before = place.load();
    for (Entry after = before; change(after); after = before) {
      if (place.compare_exchange_weak(before, after)) return;
    }
  }
  static bool is_kept(int file) noexcept { return file >= 0 && file < kFiles; }
  AtomicEntry& entry_of(int file) noexcept { return files_[static_cast<std::size_t>(file)]; }
  const AtomicEntry& entry_of(int file) const noexcept {
    return files_[static_cast<std::size_t>(file)];
  }

  std::array<AtomicEntry, kFiles> files_{};
};

}  // namespace coz

#endif  // LIBCOZ_THREAD_EVENT_FILES_H
