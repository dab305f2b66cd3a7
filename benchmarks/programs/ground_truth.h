// What the ground-truth programs share: lines whose work can really be shortened, and the clock
// that says how long a unit of work then takes.
//
//   PROGRAM [--seconds S] [--speedup LINE=PERCENT]... [--slices T --case LINE=PERCENT...]
//
// A program does the same work over and over, marks each unit as progress, and after S seconds
// prints
//
//   line NAME ITERATIONS                          one for each marked line, as shortened
//   visits N seconds T [latency_us L]             always last
//
// N units were finished in T seconds, so that T/N is the true period, without any profiler. A
// start-up of a tenth of S, 0.2 s at most, is not counted.
//
// With --slices it changes the lengths of its lines as it runs, every T seconds, and prints for
// each slice
//
//   slice CASE visits N seconds T [latency_us L] stolen S
//
// S is the time that a hypervisor stole from all processors of the machine meanwhile, in
// seconds. Slices without any speedup (CASE -1) stand between those of the cases, of which each
// comes once, in random order, before any comes again. So a machine that becomes slower or faster
// meanwhile is in both sides of every comparison. The first quarter of a slice is not counted.
//
// All work is in marked lines: loops over a register, one to a line of source and each in a
// function of its own. (Loops over a volatile variable run faster for a while after a thread has
// slept on some processors.) Their lengths are constants, so that true and profiled runs do the
// same.
//
// A new program is one file beside this one, named in benchmarks/ground_truth/programs.py. It has
// one progress point, and marks each line by `// LINE name` in a function of that name that is not
// inlined.
#ifndef BENCHMARKS_PROGRAMS_GROUND_TRUTH_H
#define BENCHMARKS_PROGRAMS_GROUND_TRUTH_H

// Tools that know only the classic interface do not see the marks of our own header.
#ifdef GROUND_TRUTH_CLASSIC_MACROS
#include <classic_coz.h>
#define COZ_PROGRESS_NAMED(name) CLASSIC_COUNT(CLASSIC_THROUGHPUT, name)
#define COZ_BEGIN(name) CLASSIC_COUNT(CLASSIC_BEGIN, name)
#define COZ_END(name) CLASSIC_COUNT(CLASSIC_END, name)
#define COZ_BEGIN_ID(name, id) CLASSIC_COUNT(CLASSIC_BEGIN, name)
#define COZ_END_ID(name, id) CLASSIC_COUNT(CLASSIC_END, name)
#else
#include <coz.h>
#endif

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace ground_truth {

// Iterations of an empty loop that a processor of 3 GHz does in a microsecond. Lengths are given in
// such microseconds, whatever they take on the processor at hand.
inline constexpr double kPerMicrosecond = 3000;

// A marked line: a static object, named as in the comment `// LINE name` behind its loop.
// `iterations` changes in `begin`, and between slices.
class Line {
 public:
  Line(const char* line_name, double microseconds)
      : name(line_name),
        whole(std::lround(microseconds * kPerMicrosecond)),
        iterations(whole),
        next(first) {
    first = this;
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  const char* const name;
  const long whole;
  std::atomic<long> iterations;
  Line* const next;
  static inline Line* first = nullptr;
};

// The line's iterations this time: 30 % more or fewer at most, drawn by each thread for itself. Two
// threads that take a lock at an exact period fall into step, and then never meet at it; how much a
// line pays depends on which periods do so, and any disturbance, a profiler's too, gets them out.
inline long varied(const Line& line) {
  static thread_local std::minstd_rand draw(
      static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(&draw) >> 4));
  constexpr double kSteps = std::minstd_rand::max();
  const double share = 0.7 + 0.6 * static_cast<double>(draw()) / kSteps;
  return std::lround(static_cast<double>(line.iterations) * share);
}

inline double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Seconds that a hypervisor has stolen from the machine: the eighth number of /proc/stat.
inline double stolen() {
  static const int file = open("/proc/stat", O_RDONLY | O_CLOEXEC);
  static const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  char text[256] = "";
  if (pread(file, text, sizeof text - 1, 0) <= 0) return 0;
  long count = 0;
  return std::sscanf(text, "cpu %*d %*d %*d %*d %*d %*d %*d %ld", &count) == 1
             ? static_cast<double>(count) / ticks
             : 0;
}

inline void sleep_microseconds(long microseconds) {
  const timespec time{microseconds / 1'000'000, microseconds % 1'000'000 * 1000};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
}

// Set by `begin`; times of `now`.
inline double run_seconds = 10;
inline double begin_time = 0;
inline double end_time = 0;

inline std::atomic<long> visits{0};
inline std::atomic<double> first_visit{0};
inline std::atomic<double> latency_sum{0};
inline std::atomic<bool> finished{false};
// What a program prints besides, before `visits`.
inline void (*print_more)() = nullptr;

[[noreturn]] inline void fail(const char* what, const char* argument) {
  std::fprintf(stderr, "%s: %s\n", what, argument);
  std::exit(2);
}

struct Case {
  Line* line;
  double percent;

  void apply() const {
    line->iterations = std::lround(static_cast<double>(line->whole) * (1 - percent / 100));
  }
};

inline Case parse_case(const char* argument) {
  const char* const equals = std::strchr(argument, '=');
  if (equals == nullptr) fail("not LINE=PERCENT", argument);
  const auto length = static_cast<std::size_t>(equals - argument);
  char* rest = nullptr;
  const double percent = std::strtod(equals + 1, &rest);
  if (rest == equals + 1 || *rest != '\0' || !(percent >= 0 && percent <= 100)) {
    fail("not a percentage from 0 to 100", argument);
  }
  for (Line* line = Line::first; line != nullptr; line = line->next) {
    if (std::strlen(line->name) == length && std::strncmp(line->name, argument, length) == 0) {
      return {line, percent};
    }
  }
  fail("no such line", argument);
}

// What was counted from one moment to another.
struct Count {
  double time;
  long visits;
  double latency;
};
inline Count count_at(double time) { return {time, visits, latency_sum}; }

inline void print_count(const Count& from, const Count& to) {
  std::printf("visits %ld seconds %.6f", to.visits - from.visits, to.time - from.time);
  if (to.latency > 0) {
    std::printf(" latency_us %.3f",
                1e6 * (to.latency - from.latency) / static_cast<double>(to.visits - from.visits));
  }
}

class Slices {
 public:
  Slices(double seconds, std::vector<Case> cases) : seconds_(seconds), cases_(std::move(cases)) {
    order_.resize(cases_.size());
    std::iota(order_.begin(), order_.end(), 0);
    measured_.reserve(100000);
  }
  double seconds() const { return seconds_; }

  // At each visit, by any thread.
  void visited(double time) {
    if (time < next_ || is_busy_.exchange(true)) return;
    // Not if another thread has been here since, and this one was held up after it looked.
    if (time >= next_) turn(time);
    is_busy_ = false;
  }

  void print() const {
    for (const Slice& slice : measured_) {
      std::printf("slice %d ", slice.number);
      print_count(slice.from, slice.to);
      std::printf(" stolen %.3f\n", slice.stolen);
    }
  }

 private:
  struct Slice {
    int number;
    Count from, to;
    double stolen;
  };

  void turn(double time) {
    if (!is_counting_) {
      stolen_ = stolen();
      from_ = count_at(time);
      next_ = time + 0.75 * seconds_;
    } else {
      const Count to = count_at(time);
      measured_.push_back({current_, from_, to, stolen() - stolen_});
      change();
      next_ = time + 0.25 * seconds_;
    }
    is_counting_ = !is_counting_;
  }

  void change() {
    if (current_ >= 0) {
      Line* const line = cases_[static_cast<std::size_t>(current_)].line;
      line->iterations = line->whole;
      current_ = -1;
      return;
    }
    if (position_ == 0) std::shuffle(order_.begin(), order_.end(), random_);
    current_ = order_[position_];
    position_ = (position_ + 1) % order_.size();
    cases_[static_cast<std::size_t>(current_)].apply();
  }

  const double seconds_;
  const std::vector<Case> cases_;
  std::vector<int> order_;
  std::size_t position_ = 0;
  int current_ = -1;
  bool is_counting_ = false;
  std::atomic<bool> is_busy_{false};
  std::atomic<double> next_{0};
  Count from_{};
  double stolen_ = 0;
  std::vector<Slice> measured_;
  std::mt19937 random_{std::random_device{}()};
};

inline std::unique_ptr<Slices> slices;

// Reads the arguments and starts the clock: the first thing that `main` does.
inline void begin(int argc, char** argv) {
  double slice_seconds = 0;
  std::vector<Case> cases;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) fail("no value for", argv[i]);
    if (std::strcmp(argv[i], "--seconds") == 0) {
      run_seconds = std::atof(argv[i + 1]);
      if (!(run_seconds > 0)) fail("not a time", argv[i + 1]);
    } else if (std::strcmp(argv[i], "--speedup") == 0) {
      parse_case(argv[i + 1]).apply();
    } else if (std::strcmp(argv[i], "--slices") == 0) {
      slice_seconds = std::atof(argv[i + 1]);
      if (!(slice_seconds > 0)) fail("not a time", argv[i + 1]);
    } else if (std::strcmp(argv[i], "--case") == 0) {
      cases.push_back(parse_case(argv[i + 1]));
    } else {
      fail("unknown option", argv[i]);
    }
  }
  if (slice_seconds > 0) {
    if (cases.empty()) fail("no case for", "--slices");
    slices = std::make_unique<Slices>(slice_seconds, std::move(cases));
  }
  const double start = now();
  begin_time = start + std::min(0.2, run_seconds / 10);
  end_time = start + run_seconds;
}

// The capacity of a queue, which a slice could not outlast. With stages of constant length it does
// not matter for the pace that lasts, so that slices run with short queues.
inline std::size_t long_queue(std::size_t capacity) { return slices ? 2 : capacity; }

// Prints the result and ends the process. Other threads are abandoned wherever they are, so that no
// program has code that stops them. Of several calls the first counts; the others return.
inline void finish() {
  if (finished.exchange(true)) return;
  const Count end = count_at(now());
  for (const Line* line = Line::first; line != nullptr; line = line->next) {
    std::printf("line %s %ld\n", line->name, line->iterations.load());
  }
  if (slices) slices->print();
  if (print_more != nullptr) print_more();
  print_count({first_visit, 0, 0}, end);
  std::printf("\n");
  std::fflush(stdout);
  // No destructors: that of a condition variable would wait for those who wait for it.
  std::_Exit(0);
}

// A unit of work is finished: called by any thread, behind the mark. Returns the time. The first
// call after the start-up starts the clock and is not counted. `start`: when the unit began, where
// latency matters.
inline double count_visit(double start = 0) {
  const double time = now();
  if (time < begin_time) return time;
  double never = 0;
  if (first_visit.compare_exchange_strong(never, time)) return time;
  ++visits;
  if (start > 0) latency_sum += time - start;
  if (slices) slices->visited(time);
  return time;
}

// The same, and ends the process when the time is up and there is a visit to tell of.
inline void visit(double start = 0) {
  if (count_visit(start) >= end_time && visits > 0) finish();
}

}  // namespace ground_truth

#endif  // BENCHMARKS_PROGRAMS_GROUND_TRUTH_H
