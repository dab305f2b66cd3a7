// What the ground-truth programs share: lines whose work can really be shortened, and the clock
// that says how long a unit of work then takes.
//
//   PROGRAM [--seconds S] [--speedup LINE=PERCENT]...
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
// All work is in marked lines: loops over a register, one to a line of source and each in a
// function of its own. (Loops over a volatile variable run faster for a while after a thread has
// slept on some processors.) Their lengths are constants, so that true and profiled runs do the
// same.
#ifndef BENCHMARKS_PROGRAMS_GROUND_TRUTH_H
#define BENCHMARKS_PROGRAMS_GROUND_TRUTH_H

// Tools that know only the classic interface do not see the marks of our own header.
#ifdef GROUND_TRUTH_CLASSIC_MARKS
#include <classic_coz.h>
#define COZ_PROGRESS_NAMED(name) CLASSIC_COUNT(CLASSIC_THROUGHPUT, name)
#define COZ_BEGIN(name) CLASSIC_COUNT(CLASSIC_BEGIN, name)
#define COZ_END(name) CLASSIC_COUNT(CLASSIC_END, name)
#else
#include <coz.h>
#endif

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace ground_truth {

// Iterations of an empty loop that a processor of 3 GHz does in a microsecond. Lengths are given in
// such microseconds, whatever they take on the processor at hand.
inline constexpr double kPerMicrosecond = 3000;

// A marked line: a static object, named as in the comment `// LINE name` behind its loop.
// `iterations` does not change after `begin`.
class Line {
 public:
  Line(const char* line_name, double microseconds)
      : name(line_name), iterations(std::lround(microseconds * kPerMicrosecond)), next(first) {
    first = this;
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  const char* const name;
  long iterations;
  Line* const next;
  static inline Line* first = nullptr;
};

inline double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
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

[[noreturn]] inline void fail(const char* what, const char* argument) {
  std::fprintf(stderr, "%s: %s\n", what, argument);
  std::exit(2);
}

inline void speed_up(const char* argument) {
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
      line->iterations = std::lround(static_cast<double>(line->iterations) * (1 - percent / 100));
      return;
    }
  }
  fail("no such line", argument);
}

// Reads the arguments and starts the clock: the first thing that `main` does.
inline void begin(int argc, char** argv) {
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) fail("no value for", argv[i]);
    if (std::strcmp(argv[i], "--seconds") == 0) {
      run_seconds = std::atof(argv[i + 1]);
      if (!(run_seconds > 0)) fail("not a time", argv[i + 1]);
    } else if (std::strcmp(argv[i], "--speedup") == 0) {
      speed_up(argv[i + 1]);
    } else {
      fail("unknown option", argv[i]);
    }
  }
  const double start = now();
  begin_time = start + std::min(0.2, run_seconds / 10);
  end_time = start + run_seconds;
}

// Prints the result and ends the process. Other threads are abandoned wherever they are, so that no
// program has code that stops them. Of several calls the first counts; the others return.
inline void finish() {
  if (finished.exchange(true)) return;
  const double seconds = now() - first_visit;
  for (const Line* line = Line::first; line != nullptr; line = line->next) {
    std::printf("line %s %ld\n", line->name, line->iterations);
  }
  std::printf("visits %ld seconds %.6f", visits.load(), seconds);
  if (latency_sum > 0) {
    std::printf(" latency_us %.3f", 1e6 * latency_sum / static_cast<double>(visits));
  }
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
  return time;
}

// The same, and ends the process when the time is up and there is a visit to tell of.
inline void visit(double start = 0) {
  if (count_visit(start) >= end_time && visits > 0) finish();
}

}  // namespace ground_truth

#endif  // BENCHMARKS_PROGRAMS_GROUND_TRUTH_H
