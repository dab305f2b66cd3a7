// Windows in the model as the experimenter measures them (libcoz/experiment/experimenter.cpp), with
// its own rules of their length, of the order of speedups and of queue settling.
#ifndef TESTS_ORACLE_WINDOWS_H
#define TESTS_ORACLE_WINDOWS_H

#include <optional>
#include <string>
#include <vector>

#include "experiment/queue_settling.h"
#include "experiment/speedup_plan.h"
#include "experiment/window_length.h"
#include "profile_log/records.h"
#include "tests/oracle/model.h"
#include "tests/oracle/workloads.h"

namespace oracle {

// What is done about queues that outlast a window.
struct Care {
  bool waits = true;           // for steady state; else windows open after a fixed real time
  bool there_and_back = true;  // blocks of slow targets; else all are in random order
};

struct Estimate {
  double effect;     // of the time for a visit, in percent
  double transient;  // share of windows
};

class Windows {
 public:
  Windows(const Workload& workload, const Settings& settings, const Care& care);

  // Measures blocks until so much simulated time is over.
  void measure_for(Nanoseconds length);

  std::size_t count() const noexcept { return windows_.size(); }
  // The share of the simulated time in which steady state was waited for.
  double share_waited() const noexcept;
  // Nothing if there is no window, or no baseline.
  std::optional<Estimate> estimate(Line line, int speedup) const;
  // Adds them to a profile, as `coz run` writes it. Lines are those of a file called kFile.
  void write(const std::string& path) const;
  static constexpr const char* kFile = "/pipeline.cpp";

 private:
  struct Window {
    Line line;
    int speedup;
    double visits;
    double elapsed;  // effective
    bool transient;
    coz::ExperimentRecord record;  // all but what is above
  };
  struct Sums {
    double visits = 0;
    double elapsed = 0;
    std::size_t steady = 0;
    std::size_t all = 0;
    double period() const noexcept { return elapsed / visits; }
  };

  void run_window(Line line, int speedup);
  void describe(Window& window, Nanoseconds opened, Nanoseconds delay) const;
  void settle();
  bool settle_queues(Nanoseconds limit);
  void measure(Window& window, Nanoseconds closing_limit);
  void run_for(Nanoseconds length, Nanoseconds opened, Nanoseconds delay);
  bool wait_for_steady_state(Nanoseconds step, Nanoseconds limit);
  bool take_edge(std::vector<coz::Visit>& edges);
  void take_visits(Window& window, Nanoseconds opened, std::vector<coz::Visit> edges);
  // Nothing if no thread has waited at a queue.
  coz::FlowReading read_flows() const;
  std::optional<coz::FlowResult> flow_since(coz::FlowReading& last) const;
  std::uint64_t all_samples() const noexcept;
  Sums sums(Line line, int speedup) const;

  World world_;
  Care care_;
  coz::Random random_;
  Line lines_;
  coz::SpeedupPlan plan_;
  coz::WindowLength length_;
  coz::QueueSettling settling_;
  coz::CoreWaits opening_;  // of the window
  coz::FlowReading last_;
  coz::FlowReading written_;
  coz::FlowReading lap_;
  Nanoseconds waited_ = 0;
  std::uint64_t block_ = 0;
  std::vector<Window> windows_;
};

}  // namespace oracle

#endif  // TESTS_ORACLE_WINDOWS_H
