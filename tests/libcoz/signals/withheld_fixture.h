// For tests of signals that are kept for the program: SIGUSR1 and SIGUSR2 stand for the profiler's.
#ifndef TESTS_LIBCOZ_OS_WITHHELD_FIXTURE_H
#define TESTS_LIBCOZ_OS_WITHHELD_FIXTURE_H

#include <unistd.h>

#include <atomic>

#include "signals/withheld_signals.h"

namespace withheld_fixture {

using coz::assign_bits;
using coz::bit_of;
using coz::change_kernel_mask;
using coz::SignalBits;
namespace withheld = coz::withheld;

inline constexpr SignalBits kOurs = bit_of(SIGUSR1) | bit_of(SIGUSR2);

inline siginfo_t info_of(int signal, int code = SI_USER) {
  siginfo_t info = {};
  info.si_signo = signal;
  info.si_code = code;
  return info;
}

inline std::atomic<int> handled{0};
inline std::atomic<int> handled_code{0};
inline std::atomic<int> handled_by{0};

inline void count(const siginfo_t& info) {
  handled_code = info.si_code;
  handled_by = gettid();
  handled.fetch_add(1);
}

// As the profiler's handler does, with what the kernel delivers.
inline void handle(int signal, siginfo_t* info, void*) {
  if (!withheld::is_knock(*info) && !withheld::withhold(*info)) count(*info);
  siginfo_t unblocked;
  while (withheld::take_unblocked(signal, unblocked) != 0) count(unblocked);
}

// The two signals have that handler, and the calling thread takes part.
class Taken {
 public:
  Taken() {
    struct sigaction action = {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGUSR1, &action, &before_[0]);
    sigaction(SIGUSR2, &action, &before_[1]);
    handled = 0;
    withheld::begin(1, kOurs);
  }
  ~Taken() {
    withheld::set_blocked(0);
    withheld::end(0);
    sigaction(SIGUSR1, &before_[0], nullptr);
    sigaction(SIGUSR2, &before_[1], nullptr);
  }

 private:
  struct sigaction before_[2];
};

inline SignalBits kernel_mask() { return change_kernel_mask(SIG_BLOCK, 0); }

inline sigset_t set_of(SignalBits bits) {
  sigset_t set;
  sigemptyset(&set);
  assign_bits(set, bits);
  return set;
}

template <typename Condition>
bool comes_true(Condition condition) {
  for (int i = 0; i < 20000; ++i) {
    if (condition()) return true;
    usleep(1000);
  }
  return false;
}

}  // namespace withheld_fixture

#endif  // TESTS_LIBCOZ_OS_WITHHELD_FIXTURE_H
