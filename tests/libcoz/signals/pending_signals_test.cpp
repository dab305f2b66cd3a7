// PendingSignals (signals/withheld_signals.h), and sets of signals as the kernel has them.
#include <catch2/catch.hpp>

#include "signals/signal_bits.h"
#include "signals/withheld_signals.h"

using namespace coz;

namespace {

constexpr SignalBits kOurs = bit_of(SIGUSR1) | bit_of(SIGUSR2);

siginfo_t info_of(int signal, int code = SI_USER) {
  siginfo_t info = {};
  info.si_signo = signal;
  info.si_code = code;
  return info;
}

}  // namespace

TEST_CASE("bits of signals are those of libc's sets") {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, 1);
  sigaddset(&set, 64);
  CHECK(bits_of(set) == (bit_of(1) | bit_of(64)));
  CHECK(bit_of(64) == SignalBits{1} << 63);
  sigset_t other;
  sigemptyset(&other);
  assign_bits(other, bit_of(SIGTRAP));
  CHECK(sigismember(&other, SIGTRAP) == 1);
  CHECK(sigismember(&other, SIGABRT) == 0);
}

TEST_CASE("a signal is pending once, as it came first, and the lowest is taken first") {
  PendingSignals pending;
  siginfo_t taken = {};
  CHECK(pending.take(~SignalBits{0}, taken) == 0);
  CHECK(pending.add(info_of(SIGUSR2, SI_QUEUE)));
  CHECK(pending.add(info_of(SIGUSR1)));
  CHECK_FALSE(pending.add(info_of(SIGUSR2)));
  CHECK_FALSE(pending.add(info_of(SIGTERM)));  // no room
  CHECK(pending.bits() == kOurs);
  CHECK(pending.take(bit_of(SIGTERM), taken) == 0);
  CHECK(pending.take(kOurs, taken) == SIGUSR1);
  CHECK(pending.take(kOurs, taken) == SIGUSR2);
  CHECK(taken.si_code == SI_QUEUE);
  CHECK(pending.add(info_of(SIGUSR1)));
  pending.drop(bit_of(SIGUSR1));
  CHECK(pending.bits() == 0);
}
