// The library's constructor: moves the program's functions before its own static initialisers run.
//
// Variables: COZ_LAYOUT_PLAN, the plan's path; COZ_LAYOUT_SEED, a number, or "original" for copies
// as the linker left them; COZ_LAYOUT_REPORT, a file that gets a line for each program moved. In
// processes that execute another file than the planned one, nothing is done.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/layout_plan.h"
#include "liblayout/placement.h"
#include "liblayout/process.h"
#include "liblayout/rewriting.h"

namespace coz::layout {
namespace {

constexpr int kTries = 64;  // to find room near the program

// Memory that is needed only while the functions are moved.
struct Scratch {
  std::span<std::uint32_t> order;
  std::span<std::uint64_t> offsets;
  std::span<std::int64_t> moves;
  std::span<const std::byte> memory;
};

Scratch take_scratch(std::size_t units) noexcept {
  const std::size_t size = units * (4 + 8 + 8) + 8;
  auto* const memory = static_cast<std::byte*>(map_memory(0, size));
  if (memory == nullptr) give_up("there is no memory");
  auto* const offsets = reinterpret_cast<std::uint64_t*>(memory);
  auto* const moves = reinterpret_cast<std::int64_t*>(offsets + units);
  auto* const order = reinterpret_cast<std::uint32_t*>(moves + units);
  return {{order, units}, {offsets, units}, {moves, units}, {memory, size}};
}

// Memory for the copies within reach of the program.
std::uint8_t* take_arena(const std::uint8_t* image, std::uint64_t image_size, std::uint64_t size,
                         Random& random) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(image);
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t base = choose_base(begin, image_size, size, random);
    if (base == 0) give_up("it is too large");
    if (void* const memory = map_memory(base, size)) return static_cast<std::uint8_t*>(memory);
  }
  give_up("there is no room within 2 GB of it");
}

void report(const char* path, const LayoutPlan& plan, const std::uint8_t* arena,
            std::uint64_t begin) noexcept {
  char line[160];
  std::snprintf(line, sizeof line, "moved %zu units to %p in %llu ns\n", plan.units.size(),
                static_cast<const void*>(arena),
                static_cast<unsigned long long>(nanoseconds() - begin));
  append_line(path, line);
}

void move_functions(const LayoutPlan& plan, Order order, std::uint64_t seed) noexcept {
  const std::uint64_t begin = nanoseconds();
  std::uint8_t* const image = program_image();
  if (image == nullptr) give_up("the loader does not tell where it is");
  if (!has_one_thread()) give_up("a library has started a thread before it");

  Random random(seed);
  const Scratch scratch = take_scratch(plan.units.size());
  const std::uint64_t code_size = place_units(plan.units, plan.header->alignment, order, random,
                                              scratch.order, scratch.offsets);
  const std::uint64_t frames_at = (code_size + 4095) / 4096 * 4096;
  std::uint8_t* const arena =
      take_arena(image, plan.header->image_size, frames_at + frames_size(plan), random);
  for (std::size_t i = 0; i < plan.units.size(); ++i) {
    scratch.moves[i] = arena + scratch.offsets[i] - (image + plan.units[i].begin);
  }
  const Program program{plan, image, scratch.moves};
  if (!copy_units(program) || !copy_frames(program, arena + frames_at)) {
    give_up("a distance in it is too far");
  }
  if (!make_executable(arena, code_size)) give_up("memory cannot be made executable");
  if (!unprotect_program() || !lead_to_copies(program) || !protect_program()) {
    give_up("its code cannot be made writable");
  }
  const auto own = plan.header->register_frame == 0
                       ? nullptr
                       : reinterpret_cast<void (*)(void*)>(image + plan.header->register_frame);
  if (!plan.frames.empty() && !register_frames(arena + frames_at, own)) {
    give_up("libgcc_s.so.1 is not there, which exceptions need");
  }
  unmap(scratch.memory);
  if (const char* path = std::getenv("COZ_LAYOUT_REPORT")) report(path, plan, arena, begin);
}

__attribute__((constructor)) void start() noexcept {
  const char* const path = std::getenv("COZ_LAYOUT_PLAN");
  const char* const seed = std::getenv("COZ_LAYOUT_SEED");
  if (path == nullptr || seed == nullptr) return;
  const int error = errno;
  const auto bytes = map_file(path);
  LayoutPlan plan;
  if (bytes.empty()) give_up("its plan cannot be read");
  if (read_layout_plan(bytes, plan) != nullptr) give_up("its plan is damaged");
  // A program that this one executes is another: it stays as it is.
  if (plan.header->identity == executed_file() && !plan.units.empty()) {
    const bool original = std::strcmp(seed, "original") == 0;
    move_functions(plan, original ? Order::kOriginal : Order::kRandom,
                   std::strtoull(seed, nullptr, 10));
  }
  unmap(bytes);
  errno = error;
}

}  // namespace
}  // namespace coz::layout
