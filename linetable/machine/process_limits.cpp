#include "linetable/machine/process_limits.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "common/json.h"

namespace coz::linetable {
namespace {

// A binary of 222 MB with 3.2 million rows takes about three seconds and under 1 GB; the largest
// that are built today are twenty times that.
constexpr rlim_t kMaxProcessorSeconds = 300;
constexpr unsigned kMaxSeconds = 600;
constexpr rlim_t kMemory = rlim_t{4} << 30;
constexpr rlim_t kMemoryPerByte = 16;

// Made beforehand: a signal handler must not allocate, and without memory nobody can.
struct Answers {
  std::string time_is_up;
  std::string out_of_memory;
};

Answers& answers() {
  static Answers made;
  return made;
}

[[noreturn]] void end_with(const std::string& answer) noexcept {
  // The exit status says the same, should nobody read this.
  [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, answer.data(), answer.size());
  _exit(kLimitReached);
}

std::string limit_answer(const std::string& message) {
  JsonWriter json;
  json.begin_object().field("error", "limit").field("message", message).end_object();
  return json.text() + "\n";
}

// What may be read, and the limit of memory that was in force before ours.
struct Reading {
  std::string binary;
  rlim_t bytes = 0;
  rlim_t before = RLIM_INFINITY;
};

Reading& reading() {
  static Reading made;
  return made;
}

rlim_t size_of(const std::string& file) {
  struct stat status{};
  const bool is_file = stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  return is_file ? static_cast<rlim_t>(status.st_size) : 0;
}

std::string memory_refused(const std::string& binary) {
  struct rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  return limit_answer("reading " + binary + " takes more memory than " +
                      std::to_string(limit.rlim_cur >> 20) +
                      " MB: its debug information is damaged, or memory is limited (ulimit -v)");
}

extern "C" void time_is_up(int) { end_with(answers().time_is_up); }

void lower(int resource, rlim_t limit) {
  struct rlimit now{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0 || now.rlim_cur <= limit)
    return;
  now.rlim_cur = limit;
  // Where it cannot be set, things stay as they were.
  static_cast<void>(setrlimit(static_cast<__rlimit_resource>(resource), &now));
}

void limit_memory() {
  struct rlimit now{};
  if (getrlimit(RLIMIT_AS, &now) != 0) return;
  now.rlim_cur = std::min(reading().before, kMemory + kMemoryPerByte * reading().bytes);
  // Where it cannot be set, things stay as they were.
  static_cast<void>(setrlimit(RLIMIT_AS, &now));
  answers().out_of_memory = memory_refused(reading().binary);
}

}  // namespace

void limit_process(const std::string& binary, bool may_wait) {
  answers().time_is_up =
      limit_answer("reading " + binary +
                   " takes too long: its debug information is damaged, or names something "
                   "that is no file");
  struct sigaction action{};
  action.sa_handler = time_is_up;
  sigaction(SIGXCPU, &action, nullptr);
  sigaction(SIGALRM, &action, nullptr);
  lower(RLIMIT_CPU, kMaxProcessorSeconds);
  if (!may_wait) alarm(kMaxSeconds);
  struct rlimit memory{};
  reading() = {binary, size_of(binary),
               getrlimit(RLIMIT_AS, &memory) == 0 ? memory.rlim_cur : RLIM_INFINITY};
  limit_memory();
}

void allow_to_read(const std::string& debug_file) {
  if (reading().binary.empty()) return;
  reading().bytes += size_of(debug_file);
  limit_memory();
}

extern "C" void end_out_of_memory() { end_with(answers().out_of_memory); }

}  // namespace coz::linetable
