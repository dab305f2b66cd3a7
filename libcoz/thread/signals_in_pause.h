// Which threads stop their event while sampling pauses: those whose samples would disturb them.
//
// A stopped event starts again at the next signal of the process's event, after half of
// kProcessPeriods on average. That is little for a thread that has run for long in the pause. A
// thread with little work would lose a good part of its samples, so its event goes on.
//
// One thread owns it, and uses it in its signal handler.
#ifndef LIBCOZ_THREAD_SIGNALS_IN_PAUSE_H
#define LIBCOZ_THREAD_SIGNALS_IN_PAUSE_H

#include <cstdint>

namespace coz {

class SignalsInPause {
 public:
  static constexpr int kMax = 16;

  // A signal in that pause. True if the event is to be stopped.
  bool are_too_many(std::uint32_t pause) noexcept {
    if (pause != pause_) signals_ = 0;
    pause_ = pause;
    return ++signals_ > kMax;
  }

 private:
  std::uint32_t pause_ = 0;
  int signals_ = 0;
};

}  // namespace coz

#endif  // LIBCOZ_THREAD_SIGNALS_IN_PAUSE_H
