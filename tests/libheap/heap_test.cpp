// The layers of libcoz-heap.so over an allocator that counts, and that can run short.
#include "libheap/heap.h"

#include <malloc.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <vector>

namespace coz::heap {
namespace {

// libc's, with the number of blocks that are in use.
long in_use = 0;
bool is_short = false;

void* counted(void* block) {
  if (block != nullptr) ++in_use;
  return block;
}

const Allocator kBase = {
    .malloc = [](std::size_t bytes) { return is_short ? nullptr : counted(std::malloc(bytes)); },
    .free =
        [](void* block) {
          if (block != nullptr) --in_use;
          std::free(block);
        },
    .calloc = [](std::size_t n,
                 std::size_t bytes) { return is_short ? nullptr : counted(std::calloc(n, bytes)); },
    .realloc =
        [](void* block, std::size_t bytes) {
          in_use -= bytes == 0;
          return is_short ? nullptr : std::realloc(block, bytes);
        },
    .aligned_alloc = nullptr,
    .posix_memalign = nullptr,
    .usable_size = malloc_usable_size,
};

struct Fixture {
  explicit Fixture(Settings settings) : heap(kBase, settings, 0x1234567890ABCDEF) {
    in_use = 0;
    is_short = false;
    thread.random = {1, 0};
  }
  ~Fixture() { heap.clear(thread); }
  Heap heap;
  ThreadHeap thread;
};

std::size_t offset(const void* block) { return reinterpret_cast<std::uintptr_t>(block) % kPage; }

bool is_all(const void* block, std::size_t bytes, unsigned char value) {
  const auto* begin = static_cast<const unsigned char*>(block);
  return std::count(begin, begin + bytes, value) == static_cast<std::ptrdiff_t>(bytes);
}

}  // namespace

TEST_CASE("Modes of the heap are read from text") {
  Settings settings;
  REQUIRE(parse_heap("shuffle", settings));
  REQUIRE(settings.shuffle == 256);
  REQUIRE_FALSE((settings.offset || settings.zero));
  REQUIRE(parse_heap("offset,zero,shuffle:16", settings));
  REQUIRE(settings.shuffle == 16);
  REQUIRE((settings.offset && settings.zero));
  for (const char* wrong : {"", "shuffle:", "shuffle:1", "shuffle:5000", "shuffle:-3", "shuffle:9x",
                            "offset,", "system", "zero offset"}) {
    INFO(wrong);
    Settings unused;
    REQUIRE_FALSE(parse_heap(wrong, unused));
  }
  std::uint64_t seed = 0;
  REQUIRE((parse_seed("18446744073709551615", seed) && seed == UINT64_MAX));
  REQUIRE_FALSE((parse_seed("18446744073709551616", seed) || parse_seed("", seed)));
}

TEST_CASE("Shuffled blocks come from random places, and all are given back") {
  Fixture f({.shuffle = 64});
  std::vector<void*> blocks;
  for (int i = 0; i < 1000; ++i) {
    blocks.push_back(f.heap.allocate(100, f.thread));
    REQUIRE(f.heap.usable_size(blocks.back()) >= 100);
    std::memset(blocks.back(), i, 100);
  }
  REQUIRE(std::set<void*>(blocks.begin(), blocks.end()).size() == 1000);
  int ascending = 0;
  for (std::size_t i = 1; i < blocks.size(); ++i) ascending += blocks[i - 1] < blocks[i];
  REQUIRE(ascending > 350);
  REQUIRE(ascending < 800);
  for (std::size_t i = 0; i < blocks.size(); ++i)
    REQUIRE(is_all(blocks[i], 100, static_cast<unsigned char>(i)));
  for (void* block : blocks) f.heap.release(block, f.thread);
  REQUIRE(in_use == 64 + 1);
  f.heap.clear(f.thread);
  REQUIRE(in_use == 0);
}

TEST_CASE("A released block waits in its array for a random time") {
  Fixture f({.shuffle = 16});
  std::map<int, int> waits;
  for (int i = 0; i < 300; ++i) {
    void* block = f.heap.allocate(200, f.thread);
    f.heap.release(block, f.thread);
    int wait = 0;
    std::vector<void*> others;
    while (wait < 200) {
      others.push_back(f.heap.allocate(200, f.thread));
      if (others.back() == block) break;
      ++wait;
    }
    ++waits[wait < 200 ? wait : -1];
    for (void* other : others) f.heap.release(other, f.thread);
  }
  REQUIRE(waits[0] < 60);
  REQUIRE(waits.size() > 20);
}

TEST_CASE("The same seed shuffles in the same way, another one differently") {
  const auto picks = [](std::uint64_t seed) {
    RandomNumbers random{seed, 0};
    std::vector<std::uint32_t> found;
    for (int i = 0; i < 20; ++i) found.push_back(random.below(256));
    return found;
  };
  REQUIRE(picks(5) == picks(5));
  REQUIRE(picks(5) != picks(6));
  REQUIRE(RandomNumbers(5, 0).next() != RandomNumbers(5, 1).next());
}

TEST_CASE("Big blocks lie at all multiples of a line within the page") {
  Fixture f({.offset = true});
  std::set<std::size_t> places;
  for (int i = 0; i < 1000; ++i) {
    void* block = f.heap.allocate(kBig, f.thread);
    std::memset(block, 1, kBig);
    REQUIRE(f.heap.usable_size(block) >= kBig);
    places.insert(offset(block));
    f.heap.release(block, f.thread);
  }
  REQUIRE(in_use == 0);
  // One is left out where a mark would not have room.
  REQUIRE(places.size() >= kPage / kLine - 1);
  void* small = f.heap.allocate(kBig - 1, f.thread);
  REQUIRE(in_use == 1);
  f.heap.release(small, f.thread);
  REQUIRE(in_use == 0);
}

TEST_CASE("A block at the begin of a page is never taken for a big one") {
  const OffsetBlocks blocks(0);
  void* page = std::aligned_alloc(kPage, kPage);
  // What lies before is not read: it may not be there.
  REQUIRE_FALSE(blocks.is_one(page));
  std::free(page);
  // From an allocator whose blocks begin with pages, big blocks never begin with one.
  Allocator pages = kBase;
  pages.malloc = [](std::size_t bytes) {
    return std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  };
  RandomNumbers random{1, 1};
  for (int i = 0; i < 1000; ++i) {
    void* block = blocks.allocate(kBig, false, pages, random);
    REQUIRE(blocks.is_one(block));
    REQUIRE(offset(block) != 0);
    blocks.release(block, kBase);
  }
}

TEST_CASE("Blocks keep their contents through all changes of size") {
  const auto settings = GENERATE(Settings{.shuffle = 32}, Settings{.offset = true},
                                 Settings{.zero = true}, Settings{32, true, true});
  Fixture f(settings);
  const std::size_t sizes[] = {1,    24,      25,      900,      1032,  1033, 40000, kBig - 1,
                               kBig, 1 << 20, 3 << 20, kBig + 5, 70000, 500,  8,     2000};
  for (const std::size_t before : sizes)
    for (const std::size_t after : sizes) {
      void* block = f.heap.allocate(before, f.thread);
      std::memset(block, 0x5A, before);
      block = f.heap.resize(block, after, f.thread);
      REQUIRE(f.heap.usable_size(block) >= after);
      REQUIRE(is_all(block, std::min(before, after), 0x5A));
      std::memset(block, 0x5B, after);
      f.heap.release(block, f.thread);
    }
  void* block = f.heap.resize(nullptr, kBig, f.thread);
  REQUIRE(f.heap.resize(block, 0, f.thread) == nullptr);
  f.heap.clear(f.thread);
  REQUIRE(in_use == 0);
}

TEST_CASE("Zeroed blocks hold nothing of those before them") {
  const auto settings = GENERATE(Settings{.zero = true}, Settings{16, true, true});
  Fixture f(settings);
  for (int i = 0; i < 2000; ++i) {
    const std::size_t bytes = i % 40 == 0 ? kBig + 100 : 300;
    void* block = f.heap.allocate(bytes, f.thread);
    REQUIRE(is_all(block, bytes, 0));
    std::memset(block, 9, f.heap.usable_size(block));
    f.heap.release(block, f.thread);
  }
  f.heap.clear(f.thread);
}

TEST_CASE("Zeroed blocks that change their size leave nothing behind") {
  Fixture f(Settings{.zero = true});
  void* block = f.heap.allocate(300, f.thread);
  std::memset(block, 9, 300);
  auto* before = static_cast<unsigned char*>(block);
  void* grown = f.heap.resize(block, 5000, f.thread);
  REQUIRE(grown != block);
  REQUIRE(is_all(grown, 300, 9));
  // What the allocator has put into the free block is at its beginning.
  REQUIRE(is_all(before + 64, 200, 0));
  f.heap.release(grown, f.thread);
  f.heap.clear(f.thread);
}

TEST_CASE("Without memory calls fail as malloc's do, and blocks stay") {
  const auto settings = GENERATE(Settings{.shuffle = 16}, Settings{.offset = true});
  Fixture f(settings);
  void* block = f.heap.allocate(2 * kBig, f.thread);
  std::memset(block, 3, 2 * kBig);
  is_short = true;
  REQUIRE(f.heap.allocate(50, f.thread) == nullptr);
  REQUIRE(f.heap.allocate(kBig, f.thread) == nullptr);
  REQUIRE(f.heap.resize(block, 9 * kBig, f.thread) == nullptr);
  is_short = false;
  if (settings.offset) {
    REQUIRE(f.heap.resize(block, SIZE_MAX - 100, f.thread) == nullptr);
    REQUIRE(errno == ENOMEM);
  }
  REQUIRE(is_all(block, 2 * kBig, 3));
  f.heap.release(block, f.thread);
  void* later = f.heap.allocate(50, f.thread);
  REQUIRE(later != nullptr);
  f.heap.release(later, f.thread);
  f.heap.clear(f.thread);
  REQUIRE(in_use == 0);
}

}  // namespace coz::heap
