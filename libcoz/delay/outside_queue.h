// The queue in front of something outside the program that serves a few requests at a time: a disk,
// a server, a limit of operations per second.
//
// Pauses do not hold it up. In effective time it would be free too early, and lines beside it would
// seem to matter although it sets the pace. So its queue is played again in effective time, by the
// recursion of Kiefer and Wolfowitz (1955). Requests are served in turn, `servers` at a time:
//
//     in real time         begin  = max(came, room was made by one before)
//                          service = done - begin
//     in effective time    begin' = max(came', earliest end' of a server)
//                          end'   = begin' + service
//
// A wait is prolonged by the time that its request is queued in effective time less that in real
// time. To have both alike, the latter comes from the same recursion: where nothing is delayed, no
// wait is prolonged.
//
// How many are served at a time is learned. With the right number, waits grow one for one with the
// time queued, and hardly any request is done before there was room for it. Waits that have nothing
// to do with each other fail both. Where several numbers pass, service times vary least for the
// right one.
//
// For one thread at a time. Zeroed memory is an empty queue. All times are in ns.
#ifndef LIBCOZ_DELAY_OUTSIDE_QUEUE_H
#define LIBCOZ_DELAY_OUTSIDE_QUEUE_H

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "common/clock.h"

namespace coz {

class OutsideQueue {
 public:
  static constexpr std::uint32_t kMaxServers = 8;
  // Shorter calls did not wait.
  static constexpr Nanoseconds kMinWait = 20 * kMicrosecond;

  struct Request {
    Nanoseconds came = 0;
    Nanoseconds local = 0;       // what the thread had served then
    std::uint64_t finished = 0;  // requests that had been done then
    std::uint32_t ahead = 0;     // requests that were under way
    bool is_sped_up = false;     // the wait is selected: its time has changed
  };

  Request come(Nanoseconds now, Nanoseconds local) noexcept {
    return {now, local, finished_, under_way_++, false};
  }

  // The request is done at `now`. Returns when the wait for it is to end.
  Nanoseconds finish(const Request& request, Nanoseconds now) noexcept {
    const bool waited = now - request.came >= kMinWait;
    if (waited) observe(request, now);
    forget(1);
    times_[finished_ % kTimes] = now;
    if (request.is_sped_up) forget_servers();
    if (!waited || request.is_sped_up || servers_ == 0) return now;
    const Nanoseconds service = service_of(request, now);
    const Nanoseconds queued = queue(real_, request.came, service);
    const Nanoseconds longer = queue(effective_, request.came - request.local, service) - queued;
    return now + std::clamp<Nanoseconds>(longer, 0, kMaxExtension);
  }

  // As many requests are given up, or done at an unknown time.
  void forget(std::uint32_t requests) noexcept {
    under_way_ -= std::min(requests, under_way_);
    finished_ += requests;
  }

  // How many requests are served at a time; 0: any number, or it is not known.
  std::uint32_t servers() const noexcept { return servers_; }

 private:
  static constexpr std::uint32_t kTimes = 64;
  static constexpr Nanoseconds kMaxExtension = kSecond;
  static constexpr double kMinObserved = 32;   // requests
  static constexpr double kMaxObserved = 512;  // then older ones count half
  static constexpr double kMinLate = 32;       // requests that found no room
  static constexpr double kMaxOvertaken = 0.05;
  static constexpr double kMinSlope = 0.7;
  static constexpr double kMaxWhole = 3;  // of the mean of the last waits
  static constexpr int kWaitsOfMean = 64;
  static constexpr double kMinSpread = 20;  // us

  // Sums over requests of a time, in us.
  struct Sums {
    double sum;
    double squares;

    void add(double time) noexcept {
      sum += time;
      squares += time * time;
    }
    void halve() noexcept { *this = {sum / 2, squares / 2}; }
    double variance(double number) const noexcept {
      return squares / number - sum / number * sum / number;
    }
  };

  // What is known of requests if a certain number of them are served at a time.
  struct Fit {
    Sums service;
    // Of requests that found no room:
    double late;       // how many
    double overtaken;  // that were done before there was room
    Sums late_whole;   // their waits
    Sums late_queued;
    Sums late_service;
  };

  // When the service of a request began that is done now; nothing: there was no room before.
  std::optional<Nanoseconds> begin_of(const Request& request, std::uint32_t servers,
                                      Nanoseconds now) const noexcept {
    if (request.ahead < servers) return request.came;
    const std::uint64_t made_room = request.finished + request.ahead - servers + 1;
    if (made_room > finished_) return std::nullopt;
    if (finished_ - made_room >= kTimes) return request.came;
    return std::clamp(times_[made_room % kTimes], request.came, now);
  }

  void observe(const Request& request, Nanoseconds now) noexcept {
    const double whole = in_us(now - request.came);
    if (!follow_mean(whole)) return;
    for (std::uint32_t servers = 1; servers <= kMaxServers; ++servers) {
      Fit& fit = fits_[servers - 1];
      const auto begin = begin_of(request, servers, now);
      const double service = in_us(now - begin.value_or(now));
      fit.service.add(service);
      if (!begin) fit.overtaken += 1;
      if (request.ahead < servers) continue;
      fit.late += 1;
      fit.late_whole.add(whole);
      fit.late_queued.add(whole - service);
      fit.late_service.add(service);
    }
    observed_ += 1;
    if (observed_ >= kMinObserved) choose_servers();
    if (observed_ >= kMaxObserved) halve();
  }

  // False: something else has held the request up, and perhaps others at once. Yet the mean follows
  // waits that become longer for good.
  bool follow_mean(double whole) noexcept {
    const double bounded = known_waits_ == 0 ? whole : std::min(whole, kMaxWhole * mean_wait_);
    if (known_waits_ < kWaitsOfMean) ++known_waits_;
    mean_wait_ += (bounded - mean_wait_) / known_waits_;
    return bounded == whole;
  }

  static double in_us(Nanoseconds time) noexcept {
    return static_cast<double>(time) / static_cast<double>(kMicrosecond);
  }

  void halve() noexcept {
    observed_ /= 2;
    for (Fit& fit : fits_) {
      fit.late /= 2;
      fit.overtaken /= 2;
      for (Sums* sums : {&fit.service, &fit.late_whole, &fit.late_queued, &fit.late_service}) {
        sums->halve();
      }
    }
  }

  // The slope of whole waits against the times queued: 1 if a request waits for what is before it
  // and its service takes as long as ever, 0 if it does not.
  enum class Evidence { kNone, kFor, kAgainst };
  Evidence evidence(const Fit& fit) const noexcept {
    if (fit.late < kMinLate) return Evidence::kNone;
    const double spread = fit.late_queued.variance(fit.late);
    if (spread < kMinSpread * kMinSpread) return Evidence::kNone;
    const double residual = std::max(0.0, fit.late_service.variance(fit.late));
    const double slope = (fit.late_whole.variance(fit.late) + spread - residual) / (2 * spread);
    const double error = std::sqrt(residual / spread / fit.late);
    if (fit.overtaken > kMaxOvertaken * fit.late || slope + error < kMinSlope) {
      return Evidence::kAgainst;
    }
    return slope - error >= kMinSlope ? Evidence::kFor : Evidence::kNone;
  }

  // While the program is delayed, requests may never meet. Then the last number is kept.
  void choose_servers() noexcept {
    if (servers_ != 0 && evidence(fits_[servers_ - 1]) == Evidence::kNone) return;
    std::uint32_t best = 0;
    for (std::uint32_t servers = 1; servers <= kMaxServers; ++servers) {
      if (evidence(fits_[servers - 1]) != Evidence::kFor) continue;
      if (best == 0 || fits_[servers - 1].service.variance(observed_) <
                           fits_[best - 1].service.variance(observed_)) {
        best = servers;
      }
    }
    if (best != servers_) forget_servers();
    servers_ = best;
  }

  Nanoseconds service_of(const Request& request, Nanoseconds now) const noexcept {
    const Nanoseconds waking = waking_time();
    const Nanoseconds room = begin_of(request, servers_, now).value_or(now) - waking;
    return std::max<Nanoseconds>(0, now - waking - std::max(request.came, room));
  }

  using Servers = std::array<Nanoseconds, kMaxServers>;  // when they are free

  // How long a request is queued that comes at `came`, and is then served for as long.
  Nanoseconds queue(Servers& free_at, Nanoseconds came, Nanoseconds service) noexcept {
    Nanoseconds& free = *std::min_element(free_at.begin(), free_at.begin() + servers_);
    const Nanoseconds begin = std::max(came, free);
    free = begin + service;
    return begin - came;
  }

  void forget_servers() noexcept { real_ = effective_ = {}; }

  // What lies between the end of a service and the end of the wait. Measured service times contain
  // it, but not those of requests that found no room: the one before them ended as late.
  Nanoseconds waking_time() const noexcept {
    const Fit& fit = fits_[servers_ - 1];
    const double others = observed_ - fit.late;
    if (others < kMinLate || fit.late < 1) return 0;
    const double longer =
        (fit.service.sum - fit.late_service.sum) / others - fit.late_service.sum / fit.late;
    return std::max<Nanoseconds>(0, static_cast<Nanoseconds>(longer * kMicrosecond));
  }

  std::uint32_t under_way_;
  std::uint32_t servers_;
  std::uint64_t finished_;
  std::array<Nanoseconds, kTimes> times_;  // when the last requests were done
  Servers real_;
  Servers effective_;
  double observed_;
  double mean_wait_;  // us
  int known_waits_;
  std::array<Fit, kMaxServers> fits_;
};

}  // namespace coz

#endif  // LIBCOZ_DELAY_OUTSIDE_QUEUE_H
