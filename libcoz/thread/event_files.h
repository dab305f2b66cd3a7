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
    const auto number = static_cast<std::uint32_t>(inode);
    const Entry known = entry_of(file).load();
    const std::uint16_t epoll = known.inode == number ? known.epoll : std::uint16_t{0};
    entry_of(file).store({number, static_cast<std::uint16_t>(wakes + 1), epoll});
  }
  // `file` may be one of these: it is not known yet whom a write to it wakes.
  void expect(int file, std::uint64_t inode) noexcept {
    if (is_kept(file)) entry_of(file).store({static_cast<std::uint32_t>(inode), 0, 0});
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
  // `epoll` watches the file.
  void watch(int file, int epoll) noexcept {
    if (!is_kept(file) || !is_kept(epoll)) return;
    Entry entry = entry_of(file).load();
    if (entry.inode == 0) return;
    entry.epoll = static_cast<std::uint16_t>(epoll + 1);
    entry_of(file).store(entry);
  }

  void unwatch(int file, int epoll) noexcept {
    if (!is_kept(file)) return;
    Entry entry = entry_of(file).load();
    if (entry.epoll != epoll + 1) return;
    entry.epoll = 0;
    entry_of(file).store(entry);
  }

  bool has(int file) const noexcept { return is_kept(file) && entry_of(file).load().wakes != 0; }
  bool is(int file, std::uint64_t inode) const noexcept {
    return has(file) && entry_of(file).load().inode == static_cast<std::uint32_t>(inode);
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

  static bool is_kept(int file) noexcept { return file >= 0 && file < kFiles; }
  AtomicEntry& entry_of(int file) noexcept { return files_[static_cast<std::size_t>(file)]; }
  const AtomicEntry& entry_of(int file) const noexcept {
    return files_[static_cast<std::size_t>(file)];
  }

  std::array<AtomicEntry, kFiles> files_{};
};

}  // namespace coz

#endif  // LIBCOZ_THREAD_EVENT_FILES_H
