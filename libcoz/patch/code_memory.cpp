#include "patch/code_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "patch/slot.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace coz {
namespace {

// Operands relative to rip reach 2 GiB; most lie within the same file as the code.
constexpr std::uintptr_t kNear = std::uintptr_t{1} << 30;
constexpr std::uintptr_t kStep = std::uintptr_t{1} << 20;

void* at(std::uintptr_t address) noexcept { return reinterpret_cast<void*>(address); }

// Free memory within reach of `address`; 0 if there is none.
std::uintptr_t map_near(std::uintptr_t address, std::size_t size) noexcept {
  const std::uintptr_t page = address & ~(page_size() - 1);
  for (std::uintptr_t distance = kStep; distance < kNear; distance += kStep) {
    for (const bool below : {true, false}) {
      if (below && page < distance + kStep) continue;
      const std::uintptr_t hint = below ? page - distance : page + distance;
      void* const got = mmap(at(hint), size, PROT_READ | PROT_EXEC,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (got == at(hint)) return hint;
      if (got != MAP_FAILED) munmap(got, size);  // before Linux 4.17 it is only a hint
    }
  }
  return 0;
}

}  // namespace

std::uintptr_t page_size() noexcept { return static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE)); }

// Code of a file is read and executed, and so it is again when this is over.
bool write_code(std::uintptr_t address, const void* bytes, std::size_t size) noexcept {
  const std::uintptr_t page = address & ~(page_size() - 1);
  const std::size_t length = address + size - page;
  // NOLINTNEXTLINE(clang-analyzer-security.MmapWriteExec)
  if (mprotect(at(page), length, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  if (size == 1) {
    *static_cast<volatile std::uint8_t*>(at(address)) = *static_cast<const std::uint8_t*>(bytes);
  } else {
    std::memcpy(at(address), bytes, size);
  }
  return mprotect(at(page), length, PROT_READ | PROT_EXEC) == 0;
}

std::uintptr_t CodeMemory::free_near(std::uintptr_t address) {
  for (const Block& block : blocks_) {
    const std::uintptr_t distance =
        block.begin > address ? block.begin - address : address - block.begin;
    if (distance < kNear && block.used < block.room) return block.begin + block.used * kSlotSize;
  }
  const std::size_t size = page_size();
  const std::uintptr_t begin = map_near(address, size);
  if (begin != 0) blocks_.push_back({begin, 0, size / kSlotSize});
  return begin;
}

void CodeMemory::take(std::uintptr_t slot) noexcept {
  for (Block& block : blocks_) {
    if (slot == block.begin + block.used * kSlotSize) ++block.used;
  }
}

bool CodeMemory::contains(std::uintptr_t address) const noexcept {
  return std::any_of(blocks_.begin(), blocks_.end(), [&](const Block& block) {
    return address >= block.begin && address < block.begin + block.room * kSlotSize;
  });
}

}  // namespace coz
