// Amplifies load as it was asked for: at once where d_a is known, else as soon as it is known how
// often requests arrive without. Tells windows what became of the arrivals in them.
//
// Belongs to the experimenter's thread; allocates. Without --arrival-speedup or its like it does
// nothing.
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
  // Arrivals have to be watched before load can be amplified.
  bool is_measuring() const noexcept { return measuring_; }

  // Every now and then while is_measuring(). The record, once enough arrivals were seen: from then
  // on load is amplified. Both times are since the start of the run.
  std::optional<LoadRecord> watch(Nanoseconds real, Nanoseconds effective);

  // Every now and then. True once load cannot be amplified as asked for, because requests come
  // faster than that. It then is no more, and says so: a program whose arrivals all happen at once
  // stands still in effective time, and whoever waits for that to pass would wait for ever.
  bool gives_up();

  ArrivalCounts counts() const noexcept { return given_up_ ? *given_up_ : amplification_.counts(); }
  // What there was since `before`; nullopt where load is not amplified.
  std::optional<LoadResult> since(const ArrivalCounts& before) const;

 private:
  std::optional<LoadLevel> level_;
  Amplification& amplification_;
  bool measuring_;
  Nanoseconds delay_ = 0;                  // as asked for
  ArrivalCounts unamplified_;              // what there was before
  std::optional<ArrivalCounts> given_up_;  // what there was until then
  struct First {
    ArrivalCounts counts;
    Nanoseconds real;
    Nanoseconds effective;
  };
  std::optional<First> first_;  // when arrivals had begun
};

}  // namespace coz

#endif  // LIBCOZ_LOAD_LOAD_CONTROL_H
