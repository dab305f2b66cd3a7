// Amplifies load as the user asked: at once if d_a is known, else as soon as it is known how often
// requests arrive without amplification. Reports what became of the arrivals in a window.
//
// For the experimenter's thread; allocates. Without --arrival-speedup or the like it does nothing.
#ifndef LIBCOZ_LOAD_LOAD_CONTROL_H
#define LIBCOZ_LOAD_LOAD_CONTROL_H

#include <optional>

#include "load/amplification.h"
#include "load/load_level.h"
#include "load/load_records.h"

namespace coz {

class LoadControl {
 public:
  LoadControl(std::optional<LoadLevel> level, Amplification& amplification);

  bool is_on() const noexcept { return level_.has_value(); }
  // Arrivals must be watched before load can be amplified.
  bool is_measuring() const noexcept { return measuring_; }

  // Called regularly while is_measuring(). Returns the record once enough arrivals have been seen;
  // load is amplified from then on. A long time without arrivals, as between a first request and
  // the load proper, does not count. Both times are since the start of the run.
  std::optional<LoadRecord> watch(Nanoseconds real, Nanoseconds effective);

  // Called regularly. Returns true once load cannot be amplified as asked, because requests follow
  // each other too closely; amplification has then ended, with a message. If it went on where all
  // requests arrive at once, effective time would stand still, and whoever waits for it to pass
  // would wait for ever.
  bool gives_up();

  ArrivalCounts counts() const noexcept { return given_up_ ? *given_up_ : amplification_.counts(); }
  // The arrivals since `before`; nullopt if load is not amplified.
  std::optional<LoadResult> since(const ArrivalCounts& before) const;

 private:
  std::optional<LoadLevel> level_;
  Amplification& amplification_;
  bool measuring_;
  Nanoseconds delay_ = 0;                  // as asked for
  ArrivalCounts judged_;                   // arrivals of which gives_up() has judged
  int bad_batches_ = 0;                    // in a row, up to then
  std::optional<ArrivalCounts> given_up_;  // arrivals until it gave up
  struct Look {
    ArrivalCounts counts;
    Nanoseconds real;
    Nanoseconds effective;
  };
  bool restarts_after_gap(Nanoseconds elapsed);

  std::optional<Look> first_;   // at the first arrival seen
  std::uint64_t arrivals_ = 0;  // seen up to the last look
  Nanoseconds looked_ = 0;      // effective time of the last look
  Nanoseconds last_ = 0;        // of the last one that found a new arrival
  // The longest time in which looks found none, and the look that found one at last.
  Nanoseconds longest_gap_ = 0;
  std::optional<Look> after_gap_;
};

}  // namespace coz

#endif  // LIBCOZ_LOAD_LOAD_CONTROL_H
