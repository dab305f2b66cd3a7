#include "unwind/stack_walk.h"

#include <dlfcn.h>
#include <pthread.h>
#include <ucontext.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "single_step.h"

using coz::FrameRegisters;
using coz::StackWalk;

namespace {

constexpr std::size_t kMaxFrames = 64;

struct Walked {
  std::array<std::uintptr_t, kMaxFrames> addresses{};
  std::size_t count = 0;

  void add(std::uintptr_t address) {
    if (count < kMaxFrames) addresses[count++] = address;
  }
  bool has(std::uintptr_t begin, std::uintptr_t end) const {
    return std::any_of(addresses.begin(), addresses.begin() + count,
                       [&](std::uintptr_t each) { return each >= begin && each < end; });
  }
  // From where that address is.
  Walked from(std::uintptr_t address) const {
    Walked rest;
    const auto* end = addresses.begin() + count;
    for (const auto* at = std::find(addresses.begin(), end, address); at != end; ++at)
      rest.add(*at);
    return rest;
  }
  bool operator==(const Walked& other) const {
    return count == other.count && addresses == other.addresses;
  }
};

Walked ours(StackWalk walk) {
  Walked walked;
  do {
    walked.add(walk.address());
  } while (walked.count < kMaxFrames && walk.step());
  return walked;
}

_Unwind_Reason_Code add_frame(_Unwind_Context* frame, void* walked) {
  int is_exact = 0;
  const std::uintptr_t address = _Unwind_GetIPInfo(frame, &is_exact);
  if (address == 0) return _URC_END_OF_STACK;
  static_cast<Walked*>(walked)->add(is_exact != 0 ? address : address - 1);
  return _URC_NO_REASON;
}

Walked libgccs() {
  Walked walked;
  _Unwind_Backtrace(add_frame, &walked);
  return walked;
}

}  // namespace

TEST_CASE("a walk from here meets the frames that libgcc's does", "[unwind]") {
  Walked mine, theirs;
  const auto both = [&]() __attribute__((noinline)) {
    mine = ours(StackWalk(coz::current_registers(), true));
    theirs = libgccs();
  };
  both();
  REQUIRE(theirs.count > 3);
  // The two were asked at different instructions of the same function, and libgcc tells its caller
  // first.
  const Walked rest = mine.from(theirs.addresses[3]);
  CHECK(rest.count > 1);
  CHECK(rest == theirs.from(theirs.addresses[3]));
}

namespace {

volatile std::sig_atomic_t handled = 0;
Walked in_handler, in_handler_libgcc;
std::uintptr_t where = 0;

void walk_in_handler(int, siginfo_t*, void* context) {
  where = coz::interrupted_registers(context).pc;
  in_handler = ours(StackWalk(coz::current_registers(), true));
  in_handler_libgcc = libgccs();
  handled = 1;
}

}  // namespace

TEST_CASE("a walk leads out of a signal handler", "[unwind]") {
  struct sigaction action{}, before{};
  action.sa_sigaction = walk_in_handler;
  action.sa_flags = SA_SIGINFO;
  REQUIRE(sigaction(SIGUSR2, &action, &before) == 0);
  handled = 0;
  raise(SIGUSR2);
  sigaction(SIGUSR2, &before, nullptr);
  REQUIRE(handled == 1);
  const Walked rest = in_handler.from(where);
  CHECK(rest.count > 2);
#if defined(__x86_64__)  // where libgcc does the same
  CHECK(rest == in_handler_libgcc.from(where));
#endif
}

TEST_CASE("a thread's walk ends at its beginning", "[unwind]") {
  Walked walked;
  pthread_t thread{};
  const auto body = [](void* out) -> void* {
    *static_cast<Walked*>(out) = ours(StackWalk(coz::current_registers(), true));
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, nullptr, body, &walked) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  CHECK(walked.count >= 2);
  CHECK(walked.count < 20);
}

TEST_CASE("registers that lead nowhere end a walk", "[unwind]") {
  const FrameRegisters good = coz::current_registers();
  for (const std::uintptr_t bad :
       {std::uintptr_t{0}, std::uintptr_t{8}, std::uintptr_t{0x15}, std::uintptr_t{1} << 47,
        ~std::uintptr_t{0}, ~std::uintptr_t{7}}) {
    FrameRegisters registers = good;
    for (std::uintptr_t& each : registers.values) each = bad;
    CHECK(ours(StackWalk(registers, true)).count <= 2);
    registers.pc = bad;
    CHECK(ours(StackWalk(registers, true)).count == 1);
  }
}

TEST_CASE("any code address with any stack ends a walk", "[unwind]") {
  // As after a jump into the middle of a function: what is saved where is all wrong.
  const FrameRegisters good = coz::current_registers();
  coz::LoadedObject libc;
  REQUIRE(coz::find_loaded_object(
      reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, "gnu_get_libc_version")), libc));
  std::size_t frames = 0;
  for (std::uintptr_t pc = libc.begin; pc < libc.end; pc += 61) {
    FrameRegisters registers = good;
    registers.pc = pc;
    for (std::size_t i = 0; i < coz::kRegisters; ++i) {
      if (i != coz::kStackPointer) registers.values[i] = pc * (i + 3) % 0x10000;
    }
    frames += ours(StackWalk(registers, true)).count;
  }
  CHECK(frames > 0);
}

#if defined(__x86_64__)

namespace {

Walked interrupted(void* context) {
  return ours(StackWalk(coz::interrupted_registers(context), true));
}

// Of the function that each walk is to reach.
coz::FrameDescription base;
std::size_t instructions = 0, reached = 0, same = 0;
std::array<Walked, 2> different;
std::array<unsigned char, 8192> text;

void count_reaching(void* context) {
  ++instructions;
  if (interrupted(context).has(base.begin, base.end)) ++reached;
}

void compare_with_libgcc(void* context) {
  const Walked mine = interrupted(context);
  const Walked theirs = libgccs().from(mine.addresses[0]);
  ++instructions;
  if (mine == theirs) {
    ++same;
  } else {
    different = {mine, theirs};
  }
}

void start_counting() {
  instructions = reached = same = 0;
  coz::LoadedObject object;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  REQUIRE(coz::find_loaded_object(here, object));
  REQUIRE(coz::find_frame_description(object, here, base));
}

int compare_bytes(const void* a, const void* b) {
  return *static_cast<const unsigned char*>(a) - *static_cast<const unsigned char*>(b);
}

// Frames that compilers align are described by expressions.
[[gnu::noinline, gnu::force_align_arg_pointer]] int aligned(int n) {
  alignas(64) std::array<volatile int, 16> room{};
  auto* more = static_cast<volatile char*>(__builtin_alloca(static_cast<std::size_t>(n)));
  more[0] = 1;
  room[3] = std::snprintf(reinterpret_cast<char*>(text.data()), 64, "%d %s", n, "aligned");
  return room[3] + more[0];
}

struct Counted {
  int* count;
  ~Counted() { ++*count; }
};

// Its frame is found by rbp, because of the room that it takes.
[[gnu::noinline]] void throws(int depth, int* unwound) {
  const Counted counted{unwound};
  auto* room = static_cast<volatile char*>(__builtin_alloca(static_cast<std::size_t>(depth) + 8));
  room[depth] = 1;
  if (depth > 0) return throws(depth - 1, unwound);
  throw std::runtime_error("thrown");
}

// Has small numbers in all registers that a call keeps, rbp too, so that these are what the C++
// runtime writes over the registers that its frames have saved.
[[gnu::noinline, gnu::optimize("O2", "omit-frame-pointer")]] int catches(int* unwound) {
  std::uintptr_t a = 0x15, b = 0x25, c = 0x35, d = 0x45, e = 0x55, f = 0x65;
  asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
  int caught = 0;
  try {
    throws(4, unwound);
  } catch (const std::exception& exception) {
    caught = std::strcmp(exception.what(), "thrown") == 0 ? 1 : 0;
  }
  asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
  return a + b + c + d + e + f == 0x15 + 0x25 + 0x35 + 0x45 + 0x55 + 0x65 ? caught : 0;
}

}  // namespace

TEST_CASE("at every instruction of a library a walk is libgcc's", "[unwind][native]") {
  start_counting();
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<unsigned char>(i * 7);
  std::array<char, 64> out{};
  single_step::through(
      [&] {
        std::qsort(text.data(), 24, 1, compare_bytes);
        std::snprintf(out.data(), out.size(), "%d %s %.3f", 12, "of", 3.25);
        static_cast<void>(aligned(24));
        delete new int(3);
        static_cast<void>(dlsym(RTLD_DEFAULT, "no such function"));
      },
      compare_with_libgcc);
  CHECK(std::string(out.data()) == "12 of 3.250");
  INFO(instructions);
  CHECK(instructions > 2'000);
  INFO(std::hex << different[0].addresses[0] << " " << different[0].addresses[1] << " "
                << different[1].addresses[1]);
  CHECK(same == instructions);
}

TEST_CASE("at no instruction of a throw does a walk read what is not there", "[unwind][native]") {
  start_counting();
  int unwound = 0, caught = 0;
  single_step::through([&] { caught = catches(&unwound); }, count_reaching);
  CHECK(caught == 1);
  CHECK(unwound == 5);
  CHECK(instructions > 10'000);
  // But for where registers are exchanged, out to who called.
  INFO(reached << " of " << instructions);
  CHECK(reached * 100 > instructions * 95);
}

#endif
