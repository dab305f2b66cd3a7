// The mixes (charge_mix.h) of all threads' buckets, by thread slot: one mapping, of which only the
// pages of buckets that hold something are ever used. Without reserve() there are none.
//
// reserve() is for the start. A thread uses those of its own slot only.
#ifndef LIBCOZ_DELAY_CHARGE_MIXES_H
#define LIBCOZ_DELAY_CHARGE_MIXES_H

#include <cstddef>
#include <cstdint>

#include "delay/charge_mix.h"
#include "delay/charge_smoother.h"
#include "kernel/zeroed_memory.h"

namespace coz {

class ChargeMixes {
 public:
  ChargeMixes() = default;
  ChargeMixes(const ChargeMixes&) = delete;
  ChargeMixes& operator=(const ChargeMixes&) = delete;
  ~ChargeMixes() { unmap(mixes_, size_); }

  // False, with errno set, if there is no memory.
  bool reserve(std::uint32_t slots) noexcept {
    size_ = sizeof(ChargeMix) * ChargeSmoother::kBuckets * slots;
    mixes_ = static_cast<ChargeMix*>(map_zeroed(size_));
    return mixes_ != nullptr;
  }

  // For each bucket one; nullptr if there are none. What a former thread of the slot left counts as
  // empty, since its buckets are.
  ChargeMix* of(std::uint32_t slot) const noexcept {
    return mixes_ == nullptr ? nullptr : mixes_ + ChargeSmoother::kBuckets * slot;
  }

 private:
  ChargeMix* mixes_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace coz

#endif  // LIBCOZ_DELAY_CHARGE_MIXES_H
