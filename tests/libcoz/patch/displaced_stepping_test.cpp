// Every instruction of some compiled functions is replaced by a breakpoint instruction, so that all
// of them are executed in slots, by plans of the helper's: the functions compute what they computed
// before.
#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "kernel/machine_context.h"
#include "linetable/plan/patch_planner.h"
#include "patch/breakpoints.h"

// ThreadSanitizer adds calls to all of the functions, and takes a signal among them for one that
// interrupts its own code.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)

using namespace coz;

#define CORPUS [[gnu::section("coz_corpus"), gnu::noinline, gnu::noclone, gnu::used]]

extern "C" {
// The linker's names for the section's ends.
extern const std::uint8_t __start_coz_corpus[], __stop_coz_corpus[];
}

namespace {

std::atomic<long> shared_count{0};
volatile long start_of_sum = 3;

CORPUS unsigned long add_up(const std::vector<long>& numbers) {
  auto sum = static_cast<unsigned long>(start_of_sum);
  for (const long number : numbers) {
    sum = sum * 31 + static_cast<unsigned long>(number % 7 == 0 ? -number : number);
  }
  return sum;
}

// A jump table, tail calls, byte and word operands.
CORPUS unsigned interpret(const unsigned char* program) {
  unsigned value = 1;
  unsigned short small = 3;
  for (;; ++program) {
    switch (*program) {
      case 0:
        return value + small;
      case 1:
        value += 7;
        break;
      case 2:
        value = (value << 5) | (value >> 27);
        break;
      case 3:
        value *= 2654435761U;
        break;
      case 4:
        small = static_cast<unsigned short>(small * 3 + value);
        break;
      case 5:
        value ^= static_cast<unsigned char>(value >> 9);
        break;
      case 6:
        value /= 3;
        break;
      default:
        value -= *program;
    }
  }
}

CORPUS long fibonacci(long n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

CORPUS double series(int terms) {
  double sum = 0;
  float single = 1.5F;
  for (int i = 1; i <= terms; ++i) {
    sum += std::sqrt(static_cast<double>(i)) / (1.0 + std::sin(i));
    single = single * 0.99F + static_cast<float>(sum);
    if (sum > 1e6) sum -= single;
  }
  return sum + single;
}

CORPUS long double extended(int terms) {
  long double product = 1;
  for (int i = 1; i <= terms; ++i) product *= 1.0L + 1.0L / i;
  return product;
}

[[gnu::target("avx2")]] CORPUS int vectors(const int* numbers, int count) {
  int sums[8] = {};
  for (int i = 0; i + 8 <= count; i += 8) {
    for (int j = 0; j < 8; ++j) sums[j] = sums[j] * 3 + numbers[i + j];
  }
  int all = 0;
  for (const int sum : sums) all ^= sum;
  return all;
}

CORPUS int throws_for(int number) {
  if (number % 3 == 0) throw std::runtime_error("three");
  if (number % 5 == 0) throw number;
  return number;
}

CORPUS int catches(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    try {
      const std::string text = "some text, too long to be kept in place " + std::to_string(i);
      sum += throws_for(i) + static_cast<int>(text.size());
    } catch (const std::exception& problem) {
      sum += static_cast<int>(std::strlen(problem.what()));
    } catch (int number) {
      sum -= number;
    }
  }
  return sum;
}

struct Shape {
  virtual ~Shape() = default;
  virtual int area(int scale) const = 0;
};
struct Square : Shape {
  CORPUS int area(int scale) const override { return scale * scale; }
};
struct Strip : Shape {
  CORPUS int area(int scale) const override { return scale * 2; }
};

// Calls through tables and pointers, atomic instructions, string instructions.
CORPUS int calls(const std::vector<const Shape*>& shapes, int (*function)(int)) {
  char text[200];
  int sum = 0;
  for (const Shape* shape : shapes) {
    sum += shape->area(5) + function(sum);
    shared_count.fetch_add(1);
    std::memset(text, sum & 0x7f, sizeof text);
    sum += text[sum & 0x7f];
  }
  long expected = 0;
  while (!shared_count.compare_exchange_weak(expected, expected + 1)) {
  }
  return sum;
}

CORPUS int negated(int number) { return -number / 2; }

// What compilers make rarely: loop, jrcxz, a call through the stack, a call relative to rip.
extern "C" long coz_test_rare(long count);
asm(R"(
  .pushsection coz_corpus, "ax", @progbits
  .type coz_test_rare, @function
coz_test_rare:
  endbr64
  push %rbx
  sub $16, %rsp
  lea 7f(%rip), %rax
  mov %rax, (%rsp)
  mov %rax, 8(%rsp)
  mov %rdi, %rcx
  xor %ebx, %ebx
  jrcxz 3f
1:
  add %rcx, %rbx
  loop 1b
3:
  call *(%rsp)
  call *8(%rsp)
  mov %rsp, %rdx
  call *8(%rdx)
  call *coz_test_pointer(%rip)
  call *%rax
  lock addq $1, coz_test_number(%rip)
  push coz_test_number(%rip)
  pop %rdx
  cmp $0, %rdx
  je 4f
  mov %rbx, %rax
4:
  add $16, %rsp
  pop %rbx
  ret
7:
  add $5, %rbx
  ret
  .size coz_test_rare, .-coz_test_rare
  .popsection
  .data
coz_test_number: .quad 0
coz_test_pointer: .quad 7b
  .text
)");

struct Results {
  std::vector<double> numbers;
  bool operator==(const Results&) const = default;
};

Results run_corpus() {
  static const Square square;
  static const Strip strip;
  std::vector<long> numbers;
  std::vector<int> integers;
  for (int i = 0; i < 40; ++i) {
    numbers.push_back(i * 37 % 101);
    integers.push_back(i * 53 % 97);
  }
  const unsigned char program[] = {1, 2, 3, 4, 5, 6, 2, 9, 250, 3, 3, 1, 4, 6, 0};
  Results results;
  const auto add = [&](auto number) { results.numbers.push_back(static_cast<double>(number)); };
  add(add_up(numbers));
  add(interpret(program));
  add(fibonacci(9));
  add(series(30));
  add(extended(20));
  if (__builtin_cpu_supports("avx2")) add(vectors(integers.data(), 40));
  add(catches(20));
  add(calls({&square, &strip, &square}, negated));
  add(coz_test_rare(6));
  add(coz_test_rare(0));
  return results;
}

std::atomic<const Breakpoints*> in_use{nullptr};

void handle(int, siginfo_t*, void* context) {
  const std::uintptr_t next =
      in_use.load()->step_over(instruction_pointer(context), [](Point& point) { point.count(0); });
  if (next == 0) std::abort();
  set_instruction_pointer(context, next);
}

}  // namespace

TEST_CASE("whole functions run in slots as they do in place", "[patch][native]") {
  static Breakpoints breakpoints;  // slots belong to it
  static Point point;
  const Results expected = run_corpus();

  std::vector<Breakpoints::Request> requests;
  std::string refused;
  for (const std::uint8_t* at = __start_coz_corpus; at < __stop_coz_corpus;) {
    const std::span code(at, static_cast<std::size_t>(__stop_coz_corpus - at));
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    const auto patch = linetable::plan_patch(code, address);
    if (!patch.plan) refused += std::string(patch.refusal) + "\n";
    REQUIRE(refused.empty());
    // A file that is loaded elsewhere than it says.
    const std::uintptr_t bias = 0x10000;
    const auto moved = linetable::plan_patch(code, address - bias);
    const auto again = parse_patch_plan(encode(*moved.plan));
    REQUIRE(again);
    requests.push_back({address, bias, *again, &point});
    at += patch.plan->original.size();
  }
  CHECK(requests.size() > 500);
  CHECK(breakpoints.prepare(requests).empty());

  struct sigaction action = {}, before = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  in_use = &breakpoints;
  REQUIRE(sigaction(SIGTRAP, &action, &before) == 0);
  CHECK(breakpoints.arm().empty());
  const Results stepped = run_corpus();
  const std::uint64_t once = point.visits();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] { wrong += run_corpus() != expected; });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(breakpoints.disarm());
  REQUIRE(sigaction(SIGTRAP, &before, nullptr) == 0);

  CHECK(stepped == expected);
  CHECK(wrong == 0);
  CHECK(once > 5000);
  CHECK(point.visits() == 4 * once);
  CHECK(run_corpus() == expected);
}

#endif
