// The records of the profile: docs/profile_format.md, as types. cozcli/profile/parsing.py reads
// what is written from these.
#ifndef LIBCOZ_PROFILE_LOG_RECORDS_H
#define LIBCOZ_PROFILE_LOG_RECORDS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernel/machine_time.h"
#include "load/load_records.h"
#include "progress/point.h"

namespace coz {

// The kind as the profile calls it: a begin and an end are one latency point.
const char* kind_name(PointKind kind) noexcept;

// A progress point that the command line named.
struct PointRecord {
  std::string name;
  std::string kind;
  std::string by;  // what counts its visits; "none" when nothing could
};

struct RunRecord {
  std::string coz_version;
  Nanoseconds time = 0;  // since 1970
  std::string program;
  std::vector<std::string> arguments;
  std::string build_id;
  std::string sampling;
  Nanoseconds period = 0;
  std::uint64_t seed = 0;
  long cores = 0;
  std::string granularity;
  std::vector<std::string> scope;
  std::vector<std::string> binaries;  // the patterns of -b
  bool end_to_end = false;
  bool busy_pauses = false;
  std::vector<std::string> fixed;              // locations
  std::optional<int> fixed_speedup;            // percent; written as a fraction
  std::vector<int> speedups;                   // the same
  std::optional<Nanoseconds> arrival_speedup;  // where it was given, not to be measured
  double companion_dose = 0;                   // 0: windows have one target at a time
  std::vector<PointRecord> points;
};

// kThroughput and kArrival: visits and elapsed. kBegin: a latency point, all but visits.
struct PointResult {
  std::string name;
  PointKind kind = PointKind::kThroughput;
  std::uint64_t visits = 0;
  std::uint64_t arrivals = 0;
  std::uint64_t departures = 0;
  Nanoseconds elapsed = 0;  // effective
  double in_progress = 0;   // on average
  // kThroughput and kArrival: the part of visits and elapsed in the first half of the window.
  std::uint64_t half_visits = 0;  // 0: the window was not divided
  Nanoseconds half_elapsed = 0;
  // kBegin, of operations with identities: how many ended in each bucket of duration, those without
  // any left out; and how many could not be followed since the start.
  struct Bucket {
    std::uint32_t number = 0;  // progress/duration_histogram.h
    std::uint32_t count = 0;
  };
  // gcc warns of designated initializers without it.
  std::vector<Bucket> durations = {};  // NOLINT(readability-redundant-member-init)
  std::uint64_t lost = 0;
};

// What a thread did in a part of a window: how long it ran, pauses aside, how many locks it
// released and units of semaphores it gave, its samples in the main target, and how long it waited
// at queues, by the object that it waited for and the thread that ended the wait.
struct ThreadFlow {
  struct Wait {
    std::uint64_t object = 0;  // 0: unknown
    std::uint64_t waker = 0;   // number of the thread; 0: unknown
    Nanoseconds waited = 0;
    std::uint64_t role = 0;  // delay/queue_waits.h; is not written
  };
  std::uint64_t thread = 0;  // its number
  Nanoseconds ran = 0;
  std::uint64_t releases = 0;
  std::vector<Wait> waits;
  std::uint64_t target_samples = 0;
};

// A half of a window, with the visits to each throughput point.
struct FlowResult {
  struct Visits {
    std::string point;
    std::uint64_t count = 0;
  };
  Nanoseconds duration = 0;  // real
  Nanoseconds delay = 0;
  std::vector<Visits> visits;
  std::vector<ThreadFlow> threads;
};

// A target by number, for windows to name their companions by.
struct TargetRecord {
  std::uint32_t number = 0;
  std::string kind;
  std::string location;
  std::string function;  // empty if unknown
};

struct CompanionResult {
  std::uint32_t number = 0;   // of its TargetRecord
  int speedup = 0;            // percent; written as a fraction
  std::uint64_t samples = 0;  // in it, in the window
};

// What one thread of a program did in a window. All but its number and samples in ns.
struct ThreadShare {
  std::uint64_t thread = 0;
  Nanoseconds ran = 0;
  Nanoseconds core_wait = 0;
  std::uint64_t target_samples = 0;
};

// How threads that work share a window.
struct ThreadUse {
  Nanoseconds waited = 0;         // for other threads of the program
  std::vector<ThreadShare> each;  // if there are several, and they hardly wait for each other
};

// Samples in a target, and effective time of the run, while no main target was sped up.
struct AtZero {
  std::uint64_t samples = 0;
  Nanoseconds time = 0;
};

struct ExperimentRecord {
  std::uint64_t block = 0;
  std::string kind;  // of the target
  std::string location;
  std::string function;  // empty if unknown
  int speedup = 0;       // percent; written as a fraction
  Nanoseconds start = 0;
  Nanoseconds duration = 0;
  Nanoseconds delay = 0;
  std::uint64_t target_samples = 0;  // in the window
  std::uint64_t samples = 0;
  std::uint64_t target_samples_so_far = 0;  // since the start of the run
  Nanoseconds run_time = 0;                 // effective, in which samples were taken
  std::optional<AtZero> at_zero;            // of a baseline
  double probe_time = 0;                    // ns; 0: unknown
  std::optional<Nanoseconds> processor_time;
  std::optional<Nanoseconds> core_wait;
  std::optional<ThreadUse> threads;
  std::optional<MachineTime> machine;  // within the window
  bool unsettled = false;
  bool transient = false;      // it opened before queues had reached steady state
  bool cut = false;            // it closed before threads waited for each other again
  Nanoseconds settling = 0;    // real, from the change of the speedup to the opening
  Nanoseconds standstill = 0;  // of `duration`; not written
  std::optional<LoadResult> load;
  std::vector<PointResult> points;
  std::vector<FlowResult> flows;          // of its halves
  std::optional<FlowResult> flow_before;  // from the end of the last record's window
  // nullopt where windows have one target at a time.
  std::optional<std::vector<CompanionResult>> companions;
};

// A window without a speedup and without samples.
struct ReferenceRecord {
  std::uint64_t block = 0;
  Nanoseconds start = 0;
  Nanoseconds duration = 0;
  Nanoseconds delay = 0;
  Nanoseconds sample_cost = 0;  // of the thread's time, in windows with samples
  std::optional<MachineTime> machine;
  std::optional<LoadResult> load;
  std::vector<PointResult> points;
};

// Samples in a target.
struct LineCount {
  std::string kind;
  std::string location;
  std::string function;
  std::uint64_t count = 0;
};

// Samples in a line that was run as part of one function for one caller.
struct CallerCount {
  std::string location;
  std::string function;         // of the line; empty if unknown
  std::string caller;           // location of the call; empty: out of scope
  std::string caller_function;  // empty if unknown
  std::uint64_t count = 0;
};

// Waits for a lock in one target.
struct LockCount {
  std::string location;         // of the target
  std::string lock;             // name of the static variable; empty if it is none, or not known
  std::string holder;           // location of the line that had taken it; empty: not known
  std::string holder_function;  // empty if unknown
  std::uint64_t waits = 0;
  Nanoseconds waited = 0;     // effective time
  std::uint32_t unnamed = 0;  // without a name: the lock's number in this record; 0: all others
};

struct Discarded {
  std::uint64_t few_visits = 0;
  std::uint64_t all_delay = 0;  // no visit, since threads paused nearly all the time
  std::uint64_t shutdown = 0;
  std::uint64_t standstill = 0;  // the process was stopped meanwhile
};

// Of a tree: how many took part, and how many others still ran.
struct ProcessCounts {
  std::uint64_t joined = 0;
  std::uint64_t running = 0;
};

struct SamplesRecord {
  Nanoseconds run_time = 0;  // effective, in which samples were taken
  Nanoseconds duration = 0;
  std::uint64_t total = 0;
  std::uint64_t in_scope = 0;
  std::uint64_t in_kernel = 0;  // dropped there, so that their lines are not known
  std::vector<LineCount> lines;
  std::vector<CallerCount> callers;
  std::vector<LockCount> locks;      // where most time was waited for first
  std::vector<std::string> regions;  // entered so far
  std::vector<PointResult> points;   // totals since the start
  std::uint64_t experiments = 0;
  Discarded discarded;
  std::uint64_t threads = 0;
  std::optional<ProcessCounts> processes;
  Nanoseconds children_time = 0;  // processor time of children that are not profiled
  std::optional<LoadResult> load;
  bool final = false;
};

}  // namespace coz

#endif  // LIBCOZ_PROFILE_LOG_RECORDS_H
