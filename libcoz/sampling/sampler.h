// What happens to one sample: it is counted, compared with the selection, and charged; the thread
// pays what it owes.
//
// sample() runs in the signal handler of the sampled thread: it allocates nothing, takes no lock
// and keeps errno. The runtime owns the parts it works on, which outlive all threads.
#ifndef LIBCOZ_SAMPLING_SAMPLER_H
#define LIBCOZ_SAMPLING_SAMPLER_H

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "delay/thread_delays.h"
#include "kernel/interrupted_call.h"
#include "progress/point.h"
#include "sampling/sample_counts.h"
#include "sampling/sampling_pauses.h"
#include "symbols/modules.h"
#include "target/targets.h"
#include "thread/thread_state.h"

namespace coz {

// Finds where a thread is: the source frames in scope, along the inline and call chain, innermost
// first.
struct FindFrames {
  // For an interrupted context.
  std::size_t (*interrupted)(const Modules& modules, void* context,
                             std::span<SourceFrame> out) noexcept;
  // For the callers of this function.
  std::size_t (*calling)(const Modules& modules, std::span<SourceFrame> out) noexcept;
};

class Sampler {
 public:
  Sampler(const Modules& modules, Targets& targets, SampleCounts& counts,
          const SelectionCell& selection, const SamplingPauses& pauses, FindFrames find_frames,
          Nanoseconds period) noexcept
      : modules_(modules),
        targets_(targets),
        counts_(counts),
        selection_(selection),
        pauses_(pauses),
        find_frames_(find_frames),
        period_(period) {}

  // `is_late`: the thread went on before it got the signal, so the context does not show where it
  // was.
  void sample(void* context, bool is_late, ThreadState& thread, ThreadDelays& delays) noexcept {
    const Nanoseconds start = now();
    counts_.speed_probe->take();
    Nanoseconds samples = 1 + missed(context, is_late, thread, delays);
    const bool pauses = thread.delay.pausing.load(std::memory_order_relaxed);
    const bool spins = thread.delay.in_marked_wait.load(std::memory_order_relaxed) ||
                       (pauses && delays.pauses_busily());
    if (spins || pauses || is_late || is_switching(context, thread)) {
      if (before_pausing_ != nullptr) before_pausing_(context);
      for (; samples > 0; --samples) {
        if (spins) {
          counts_.histogram.count_spun();
        } else {
          counts_.histogram.count_sample(false);
        }
        delays.sampled(kNoTarget);
      }
      return;
    }
    // The report shows callers, for which some of the samples are enough.
    const bool with_caller = targets_.wants_caller() || thread.samples % kCallerEvery == 0;
    std::array<SourceFrame, 2> frames;
    const std::size_t found =
        find_frames_.interrupted(modules_, context, std::span(frames).first(with_caller ? 2 : 1));
    counts_.handler_time.add(now() - start);
    if (before_pausing_ != nullptr) before_pausing_(context);
    for (; samples > 0; --samples) {
      take(std::span(frames).first(found), with_caller, thread, delays);
    }
  }

  // In the thread, not in a signal handler, after a call into the kernel.
  void kernel_call_returns(ThreadState& thread, ThreadDelays& delays, Nanoseconds start,
                           Nanoseconds end) noexcept {
    if (in_kernel_ != InKernel::kDropped || pauses_.is_paused()) return;
    const int tid = thread.tid.load(std::memory_order_relaxed);
    if (begins_anew(thread)) return;
    const Nanoseconds fell = thread.kernel.at_return(start, end, thread_cpu_time(tid), period_);
    if (fell == 0) return;
    std::array<SourceFrame, 2> frames;
    const std::size_t found = find_frames_.calling(modules_, frames);
    for (Nanoseconds i = 0; i < fell; ++i) {
      take(std::span(frames).first(found), true, thread, delays);
    }
  }

  // Adds a progress point whose visits are the samples in a line. Before any thread is sampled.
  void add_point(std::uint32_t line, Point& point) { sampled_points_.push_back({line, &point}); }

  // `call` is called in the handler, with its context, once it is known where the thread was, and
  // before the thread pauses. To be set before any thread is sampled.
  void set_before_pausing(void (*call)(const void* context) noexcept) noexcept {
    before_pausing_ = call;
  }

  // What the source does with samples in kernel mode. Before any thread is sampled.
  void set_in_kernel(InKernel in_kernel) noexcept { in_kernel_ = in_kernel; }

 private:
  static constexpr std::uint32_t kCallerEvery = 4;

  struct SampledPoint {
    std::uint32_t line;
    Point* point;
  };

  void take(std::span<const SourceFrame> frames, bool with_caller, ThreadState& thread,
            ThreadDelays& delays) noexcept {
    if (!frames.empty() && !sampled_points_.empty()) visit_points(frames[0].line, thread, delays);
    const std::uint32_t target = targets_.of(frames, with_caller);
    count(target, frames.empty() ? kNoFunction : frames[0].function, thread);
    delays.sampled(selected_of(target, thread));
  }

  void visit_points(std::uint32_t line, const ThreadState& thread, ThreadDelays& delays) noexcept {
    for (const SampledPoint& each : sampled_points_) {
      if (each.line != line) continue;
      each.point->visit([&]() noexcept { return delays.effective_now(); }, thread.delay.slot);
    }
  }

  // True if sampling paused since the thread's last sample: then its periods of processor time say
  // nothing about dropped samples, and are counted from now on.
  bool begins_anew(ThreadState& thread) noexcept {
    const std::uint32_t pauses = pauses_.count();
    if (thread.pauses_seen == pauses) return false;
    thread.pauses_seen = pauses;
    thread.kernel.start_at(thread_cpu_time(thread.tid.load(std::memory_order_relaxed)), period_);
    return true;
  }

  // Samples that were due since the last one, and raised no signal. Returns how many of them fell
  // in a system call that has just returned; counts the others. In which line those fell is not
  // known; in which regions is, if the thread has neither entered nor left one since.
  Nanoseconds missed(const void* context, bool is_late, ThreadState& thread,
                     ThreadDelays& delays) noexcept {
    if (in_kernel_ == InKernel::kEach) return 0;
    const std::uint32_t changes = thread.regions.changes();
    const bool in_same_regions = thread.regions_seen == changes;
    thread.regions_seen = changes;
    if (begins_anew(thread)) return 0;
    const Nanoseconds used = thread_cpu_time(thread.tid.load(std::memory_order_relaxed));
    Nanoseconds samples = in_kernel_ == InKernel::kMerged
                              ? thread.kernel.at_merged_sample(used, period_)
                              : thread.kernel.at_sample(used, period_);
    if (samples == 0) return 0;
    if (in_kernel_ == InKernel::kMerged && !is_late && is_after_system_call(context)) {
      return samples;
    }
    const bool knows_regions = in_same_regions && !thread.regions.is_empty() &&
                               !thread.delay.pausing.load(std::memory_order_relaxed) &&
                               !thread.delay.in_marked_wait.load(std::memory_order_relaxed);
    for (; samples > 0; --samples) {
      if (knows_regions) {
        take({}, false, thread, delays);
      } else {
        counts_.histogram.count_in_kernel();
      }
    }
    return 0;
  }

  // Whether a merged sample fell where the thread went to sleep, to be woken by another, or woke
  // up. Its signal comes after the wait, when each charge would count as a gain. But to fall asleep
  // sooner gains nothing.
  bool is_switching(const void* context, const ThreadState& thread) const noexcept {
    return in_kernel_ == InKernel::kMerged &&
           thread.delay.blocked.load(std::memory_order_relaxed) &&
           !thread.is_in_kernel_call.load(std::memory_order_relaxed) &&
           is_after_futex_wait(context);
  }

  void count(std::uint32_t target, std::uint32_t function, const ThreadState& thread) noexcept {
    counts_.histogram.count_sample(target != kNoTarget || !thread.regions.is_empty());
    if (target != kNoTarget) counts_.histogram.count(target, function);
    thread.regions.for_each([&](std::uint32_t region) {
      counts_.histogram.count(Targets::of_region(region), kNoFunction);
    });
  }

  // A sample counts for its line and for all regions around it. If one of those regions is
  // selected, it is charged for that.
  std::uint32_t selected_of(std::uint32_t target, const ThreadState& thread) const noexcept {
    if (thread.regions.is_empty()) return target;
    const std::uint32_t selected = selection_.get().target;
    return thread.regions.holds(selected) ? selected : target;  // a region's number is its target's
  }

  const Modules& modules_;
  Targets& targets_;
  SampleCounts& counts_;
  const SelectionCell& selection_;
  const SamplingPauses& pauses_;
  FindFrames find_frames_;
  Nanoseconds period_;
  InKernel in_kernel_ = InKernel::kEach;
  void (*before_pausing_)(const void* context) noexcept = nullptr;
  std::vector<SampledPoint> sampled_points_;
};

}  // namespace coz

#endif  // LIBCOZ_SAMPLING_SAMPLER_H
