#include "sampling/sampler.h"

#include <linux/futex.h>
#include <ucontext.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <memory>

#include "common/clock.h"
#include "target/call_paths.h"
#include "target/region_registry.h"

using coz::SourceFrame;

namespace {

constexpr std::uint32_t kLine = 3;
constexpr std::uint32_t kTarget = coz::Targets::kFirstLine + kLine;

std::size_t find_the_line(const coz::Modules&, void*, std::span<SourceFrame> out) noexcept {
  out[0] = {kLine, 0};
  return 1;
}

std::size_t find_no_caller(const coz::Modules&, std::span<SourceFrame>) noexcept { return 0; }

coz::Nanoseconds simulated_now() noexcept { return coz::kSecond; }
coz::Nanoseconds never_sleeps(coz::Nanoseconds deadline) noexcept { return deadline; }

struct World {
  World() {
    REQUIRE(counts.histogram.reserve(kTarget + 1));
    selection.select(kTarget, coz::kMillisecond);
  }

  void sample(bool is_late, void* context = nullptr) {
    coz::ThreadDelays delays(thread.delay, environment);
    sampler.sample(context, is_late, thread, delays);
  }

  coz::Modules modules;
  coz::CallPaths paths;
  std::unique_ptr<coz::RegionRegistry> regions = std::make_unique<coz::RegionRegistry>();
  std::unique_ptr<coz::WaitSites> waits = std::make_unique<coz::WaitSites>();
  coz::Targets targets{modules, paths, *regions, *waits, coz::Granularity::kLine};
  coz::SampleCounts counts;
  coz::SelectionCell selection;
  coz::SamplingPauses pauses;
  coz::Sampler sampler{modules,          targets, counts,
                       selection,        pauses,  {find_the_line, find_no_caller},
                       coz::kMillisecond};
  coz::GlobalDelay global;
  std::unique_ptr<coz::WakerTable> wakers = std::make_unique<coz::WakerTable>();
  coz::PendingCharges pending;
  coz::YoungCharges young;
  coz::DelayEnvironment environment{global,        *wakers,      pending,
                                    young,         selection,    coz::kMillisecond,
                                    simulated_now, never_sleeps, coz::kMillisecond};
  coz::ThreadState thread;
};

// Uses processor time of this thread, so that its next sample shows that others were dropped.
void run_for(coz::Nanoseconds time) {
  const coz::Nanoseconds end = coz::thread_cpu_time(gettid()) + time;
  while (coz::thread_cpu_time(gettid()) < end) {
  }
}

}  // namespace

TEST_CASE("a sample counts for the line in which the thread is, and charges it") {
  World world;
  world.sample(false);
  CHECK(world.counts.histogram.total() == 1);
  CHECK(world.counts.histogram.in_scope() == 1);
  CHECK(world.counts.histogram.of(kTarget) == 1);
  CHECK_FALSE(world.thread.delay.smoother.is_idle());
}

TEST_CASE("a sample that comes late, or in a pause, is none of the line where the thread is now") {
  World world;
  const bool is_late = GENERATE(true, false);
  world.thread.delay.pausing.store(!is_late);
  world.sample(is_late);
  CHECK(world.counts.histogram.total() == 1);
  CHECK(world.counts.histogram.in_scope() == 0);
  CHECK(world.counts.histogram.of(kTarget) == 0);
  CHECK(world.thread.delay.clock.local() == 0);
  CHECK(world.thread.delay.smoother.is_idle());
}

TEST_CASE("a sample in a pause that takes processor time is no work") {
  World world;
  world.environment.pauses_busily = GENERATE(false, true);
  world.thread.delay.pausing.store(true);
  world.sample(false);
  CHECK(world.counts.histogram.total() == 1);
  CHECK(world.counts.histogram.spun() == (world.environment.pauses_busily ? 1 : 0));
}

TEST_CASE(
    "samples that fell in the kernel belong to the region in which the thread stayed, and charge "
    "it") {
  World world;
  constexpr std::uint32_t kRegion = 1;
  world.selection.select(coz::Targets::of_region(kRegion), coz::kMillisecond);
  world.sampler.set_in_kernel(coz::InKernel::kDropped);
  world.thread.tid.store(gettid());
  const bool stays = GENERATE(true, false);
  world.thread.kernel.start_at(coz::thread_cpu_time(gettid()), coz::kMillisecond);
  world.thread.regions.begin(kRegion);
  run_for(coz::kMillisecond);
  world.sample(false);
  const std::uint64_t before = world.counts.histogram.of(kRegion);
  if (!stays) {
    world.thread.regions.end(kRegion);
    world.thread.regions.begin(kRegion);
  }
  run_for(5 * coz::kMillisecond);
  world.sample(false);
  const std::uint64_t fell = world.counts.histogram.of(kRegion) - before;
  CHECK(world.counts.histogram.total() >= 6);
  if (stays) {
    CHECK(fell >= 5);
  } else {
    CHECK(fell == 1);
  }
}

#if defined(__x86_64__)
// A context in which the thread has just returned from a system call, or is about to make one.
// `operation`: of a futex.
ucontext_t at_call(bool is_after, int operation = FUTEX_WAKE) {
  alignas(64) static const unsigned char kCode[] = {0x90, 0x90, 0x0f, 0x05, 0x90};  // syscall, nop
  ucontext_t context = {};
  const auto address = reinterpret_cast<std::uintptr_t>(kCode) + (is_after ? 4 : 2);
  context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(address);
  context.uc_mcontext.gregs[REG_RSI] = operation;
  return context;
}

TEST_CASE(
    "periods that ended unsampled belong to the line of a system call that has just returned, and "
    "else to none") {
  World world;
  world.sampler.set_in_kernel(coz::InKernel::kMerged);
  world.thread.tid.store(gettid());
  const bool is_after_call = GENERATE(true, false);
  ucontext_t context = at_call(is_after_call);
  world.thread.kernel.start_at(coz::thread_cpu_time(gettid()), coz::kMillisecond);
  run_for(6 * coz::kMillisecond);
  world.sample(false, &context);
  CHECK(world.counts.histogram.total() >= 6);
  if (is_after_call) {
    CHECK(world.counts.histogram.of(kTarget) == world.counts.histogram.total());
  } else {
    CHECK(world.counts.histogram.of(kTarget) == 1);
    CHECK(world.counts.histogram.in_kernel() == world.counts.histogram.total() - 1);
  }
}

TEST_CASE("falling asleep to wait for a thread is no line's time, while a read's time is") {
  World world;
  const bool is_merged = GENERATE(true, false);
  const bool reads = GENERATE(true, false);
  world.sampler.set_in_kernel(is_merged ? coz::InKernel::kMerged : coz::InKernel::kDropped);
  world.thread.tid.store(gettid());
  world.thread.kernel.start_at(coz::thread_cpu_time(gettid()), coz::kMillisecond);
  world.thread.delay.blocked.store(true);
  world.thread.is_in_kernel_call.store(reads);
  const bool is_after_call = GENERATE(true, false);
  const bool waits = GENERATE(true, false);
  ucontext_t context = at_call(is_after_call, waits ? FUTEX_WAIT_PRIVATE : FUTEX_WAKE_PRIVATE);
  world.sample(false, &context);
  CHECK(world.counts.histogram.total() >= 1);
  const bool falls_asleep = is_merged && is_after_call && waits && !reads;
  CHECK((world.counts.histogram.of(kTarget) == 0) == falls_asleep);
}
#endif
