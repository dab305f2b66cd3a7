#include "unwind/checked_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>

using coz::CheckedMemory;

namespace {

// Two pages, of which the second is not readable.
class HalfReadable {
 public:
  HalfReadable() {
    void* at = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at != MAP_FAILED);
    begin_ = static_cast<unsigned char*>(at);
    std::memset(begin_, 0x5a, kPage);
    REQUIRE(mprotect(begin_ + kPage, kPage, PROT_NONE) == 0);
  }
  ~HalfReadable() { munmap(begin_, 2 * kPage); }
  HalfReadable(const HalfReadable&) = delete;
  HalfReadable& operator=(const HalfReadable&) = delete;

  std::uintptr_t border() const { return reinterpret_cast<std::uintptr_t>(begin_) + kPage; }

 private:
  const std::size_t kPage = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  unsigned char* begin_ = nullptr;
};

}  // namespace

TEST_CASE("memory is read up to where it ends, and not beyond", "[unwind]") {
  const HalfReadable pages;
  CheckedMemory memory;
  std::uintptr_t word = 7;
  CHECK(memory.read_word(pages.border() - 8, word));
  CHECK(word == 0x5a5a5a5a5a5a5a5a);
  word = 7;
  CHECK_FALSE(memory.read_word(pages.border(), word));
  CHECK_FALSE(memory.read_word(pages.border() - 1, word));
  CHECK_FALSE(memory.read_word(pages.border() - 7, word));
  CHECK(word == 7);
  std::array<unsigned char, 24> bytes{};
  CHECK(memory.read(pages.border() - 24, bytes.data(), bytes.size()));
  CHECK(bytes[23] == 0x5a);
  CHECK_FALSE(memory.read(pages.border() - 23, bytes.data(), bytes.size()));
}

TEST_CASE("addresses that are none are not read", "[unwind]") {
  CheckedMemory memory;
  std::uintptr_t word = 7;
  for (const std::uintptr_t address :
       {std::uintptr_t{0}, std::uintptr_t{1}, std::uintptr_t{4095}, std::uintptr_t{1} << 47,
        std::uintptr_t{1} << 63, ~std::uintptr_t{0}, ~std::uintptr_t{6}}) {
    CAPTURE(address);
    CHECK_FALSE(memory.read_word(address, word));
  }
  CHECK(word == 7);
}

TEST_CASE("the kernel is asked once for each page, and nothing of the thread changes", "[unwind]") {
  std::array<std::uintptr_t, 32> words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = i;
  sigset_t before, after;
  sigemptyset(&before);
  sigemptyset(&after);
  REQUIRE(pthread_sigmask(SIG_SETMASK, nullptr, &before) == 0);
  errno = 42;
  CheckedMemory memory;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::uintptr_t word = 0;
    CHECK(memory.read_word(reinterpret_cast<std::uintptr_t>(&words[i]), word));
    CHECK(word == i);
  }
  CHECK(memory.asked() <= 2);
  CHECK(errno == 42);
  REQUIRE(pthread_sigmask(SIG_SETMASK, nullptr, &after) == 0);
  CHECK(std::memcmp(&before, &after, 8) == 0);
}
