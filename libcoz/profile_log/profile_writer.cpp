#include "profile_log/profile_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "common/high_descriptor.h"
#include "common/json.h"
#include "kernel/harmless_write.h"
#include "kernel/message.h"

namespace coz {

const char* kind_name(PointKind kind) noexcept {
  switch (kind) {
    case PointKind::kThroughput:
      return "throughput";
    case PointKind::kArrival:
      return "arrival";
    case PointKind::kBegin:
    case PointKind::kEnd:
      return "latency";
  }
  return "throughput";
}

namespace {

// At 100 % no effective time may pass in a window. G grows by whole charges, so the difference of
// two readings can then be negative, by a charge at most.
Nanoseconds at_least_1(Nanoseconds effective) { return std::max<Nanoseconds>(effective, 1); }

void write_durations(JsonWriter& json, const std::vector<PointResult::Bucket>& durations) {
  json.key("durations").begin_array();
  for (const PointResult::Bucket& bucket : durations) {
    json.begin_array();
    json.value(bucket.number).value(bucket.count);
    json.end_array();
  }
  json.end_array();
}

void write_point(JsonWriter& json, const PointResult& point, bool totals) {
  json.begin_object();
  json.field("name", point.name);
  json.field("kind", kind_name(point.kind));
  if (point.kind == PointKind::kBegin) {
    json.field("arrivals", point.arrivals);
    json.field("departures", point.departures);
    if (!totals) json.field("in_progress", point.in_progress);
  } else {
    json.field("visits", point.visits);
  }
  if (!totals) json.field("elapsed", at_least_1(point.elapsed));
  if (!totals && point.half_visits > 0) {
    json.field("half_visits", point.half_visits);
    json.field("half_elapsed", at_least_1(point.half_elapsed));
  }
  if (!point.durations.empty()) write_durations(json, point.durations);
  if (totals && point.lost > 0) json.field("lost", point.lost);
  json.end_object();
}

void write_points(JsonWriter& json, const std::vector<PointResult>& points, bool totals) {
  json.key("points").begin_array();
  for (const PointResult& point : points) write_point(json, point, totals);
  json.end_array();
}

void write_point_records(JsonWriter& json, const std::vector<PointRecord>& points) {
  json.key("points").begin_array();
  for (const PointRecord& point : points) {
    json.begin_object();
    json.field("name", point.name).field("kind", point.kind).field("by", point.by);
    json.end_object();
  }
  json.end_array();
}

void write_thread_use(JsonWriter& json, const std::optional<ThreadUse>& threads) {
  if (!threads) return;
  json.key("threads").begin_object();
  json.field("waited", threads->waited);
  if (!threads->each.empty()) {
    json.key("each").begin_array();
    for (const ThreadShare& each : threads->each) {
      json.begin_array().value(each.thread).value(each.ran).value(each.core_wait);
      json.value(each.target_samples).end_array();
    }
    json.end_array();
  }
  json.end_object();
}

void write_machine(JsonWriter& json, const std::optional<MachineTime>& machine) {
  if (!machine) return;
  json.field("machine_busy", machine->busy).field("machine_stolen", machine->stolen);
}

void write_load(JsonWriter& json, const std::optional<LoadResult>& load) {
  if (!load) return;
  json.field("arrival_speedup", load->arrival_speedup);
  json.key("arrivals").begin_object();
  json.field("count", load->counts.arrivals).field("clipped", load->counts.clipped);
  json.field("charged", load->counts.charged);
  json.field("intervals", load->counts.intervals).field("between", load->counts.between);
  json.field("computed", load->counts.computed);
  json.end_object();
}

void write_list(JsonWriter& json, const char* name, const std::vector<std::string>& texts) {
  json.key(name).begin_array();
  for (const std::string& text : texts) json.value(text);
  json.end_array();
}

void write_callers(JsonWriter& json, const std::vector<CallerCount>& callers) {
  json.key("callers").begin_array();
  for (const CallerCount& caller : callers) {
    json.begin_object();
    json.field("location", caller.location);
    if (!caller.function.empty()) json.field("function", caller.function);
    if (!caller.caller.empty()) json.field("caller", caller.caller);
    if (!caller.caller_function.empty()) json.field("caller_function", caller.caller_function);
    json.field("count", caller.count);
    json.end_object();
  }
  json.end_array();
}

void write_locks(JsonWriter& json, const std::vector<LockCount>& locks) {
  json.key("locks").begin_array();
  for (const LockCount& each : locks) {
    json.begin_object();
    json.field("location", each.location);
    if (!each.lock.empty()) json.field("lock", each.lock);
    if (each.unnamed != 0) json.field("unnamed", each.unnamed);
    if (!each.holder.empty()) json.field("holder", each.holder);
    if (!each.holder_function.empty()) json.field("holder_function", each.holder_function);
    json.field("waits", each.waits).field("waited", each.waited);
    json.end_object();
  }
  json.end_array();
}

void write_companions(JsonWriter& json, const std::vector<CompanionResult>& companions) {
  json.key("companions").begin_array();
  for (const CompanionResult& each : companions) {
    json.begin_array();
    json.value(each.number).value(each.speedup / 100.0).value(each.samples);
    json.end_array();
  }
  json.end_array();
}

void write_target(JsonWriter& json, const auto& record) {
  json.field("kind", record.kind);
  json.field("location", record.location);
  if (!record.function.empty()) json.field("function", record.function);
}

void write_flow(JsonWriter& json, const FlowResult& result) {
  json.begin_object();
  json.field("duration", result.duration).field("delay", result.delay);
  json.key("visits").begin_object();
  for (const FlowResult::Visits& visits : result.visits) json.field(visits.point, visits.count);
  json.end_object();
  json.key("threads").begin_array();
  for (const ThreadFlow& flow : result.threads) {
    json.begin_object();
    json.field("thread", flow.thread).field("ran", flow.ran);
    json.field("releases", flow.releases).field("hits", flow.target_samples);
    json.key("waits").begin_array();
    for (const ThreadFlow::Wait& wait : flow.waits) {
      json.begin_array();
      // Names may have 64 bits, of which the lowest tells nothing; numbers in profiles have 63.
      json.value(wait.object >> 1).value(wait.waker).value(wait.waited);
      json.end_array();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_flows(JsonWriter& json, const ExperimentRecord& record) {
  if (record.flow_before) {
    json.key("flow_before");
    write_flow(json, *record.flow_before);
  }
  json.key("flows").begin_array();
  for (const FlowResult& half : record.flows) write_flow(json, half);
  json.end_array();
}

}  // namespace

std::string to_json(const RunRecord& record) {
  JsonWriter json;
  json.begin_object();
  json.field("type", "run");
  json.field("format", "coz-profile");
  json.field("version", 1);
  json.field("coz", record.coz_version);
  json.field("time", record.time);
  json.field("program", record.program);
  write_list(json, "arguments", record.arguments);
  json.field("build_id", record.build_id);
  json.field("sampling", record.sampling);
  json.field("period", record.period);
  json.field("seed", record.seed);
  json.field("cores", record.cores);
  json.field("granularity", record.granularity);
  write_list(json, "scope", record.scope);
  if (!record.binaries.empty()) write_list(json, "binaries", record.binaries);
  json.field("end_to_end", record.end_to_end);
  if (record.busy_pauses) json.field("busy_pauses", true);
  if (!record.fixed.empty()) write_list(json, "fixed", record.fixed);
  if (record.fixed_speedup) json.field("fixed_speedup", *record.fixed_speedup / 100.0);
  if (!record.speedups.empty()) {
    json.key("speedups").begin_array();
    for (const int speedup : record.speedups) json.value(speedup / 100.0);
    json.end_array();
  }
  if (record.arrival_speedup) json.field("arrival_speedup", *record.arrival_speedup);
  if (record.companion_dose > 0) json.field("companion_dose", record.companion_dose);
  if (!record.points.empty()) write_point_records(json, record.points);
  json.end_object();
  return json.text();
}

std::string to_json(const TargetRecord& record) {
  JsonWriter json;
  json.begin_object();
  json.field("type", "target");
  json.field("number", record.number);
  write_target(json, record);
  json.end_object();
  return json.text();
}

std::string to_json(const ExperimentRecord& record) {
  JsonWriter json;
  json.begin_object();
  json.field("type", "experiment");
  json.field("block", record.block);
  write_target(json, record);
  json.field("speedup", record.speedup / 100.0);
  json.field("start", record.start);
  json.field("duration", record.duration);
  json.field("effective_duration", at_least_1(record.duration - record.delay));
  json.field("delay", record.delay);
  json.field("hits", record.target_samples);
  if (record.companions) write_companions(json, *record.companions);
  json.field("samples", record.samples);
  json.field("line_samples", record.target_samples_so_far);
  json.field("run_time", record.run_time);
  if (record.at_zero) {
    json.field("line_samples_at_0", record.at_zero->samples);
    json.field("run_time_at_0", record.at_zero->time);
  }
  if (record.probe_time > 0) json.field("probe_time", record.probe_time);
  if (record.processor_time) json.field("processor_time", *record.processor_time);
  if (record.core_wait) json.field("core_wait", *record.core_wait);
  write_thread_use(json, record.threads);
  write_machine(json, record.machine);
  json.key("flags").begin_array();
  if (record.unsettled) json.value("unsettled");
  if (record.transient) json.value("transient");
  if (record.cut) json.value("cut");
  json.end_array();
  write_load(json, record.load);
  write_points(json, record.points, false);
  if (!record.flows.empty()) {
    json.field("settling", record.settling);
    write_flows(json, record);
  }
  json.end_object();
  return json.text();
}

std::string to_json(const LoadRecord& record) {
  JsonWriter json;
  json.begin_object();
  json.field("type", "load");
  json.field("start", record.start);
  json.field("duration", record.duration);
  json.field("arrival_speedup", record.arrival_speedup);
  json.field("interval", record.interval);
  json.field("rate", record.rate);
  json.end_object();
  return json.text();
}

std::string to_json(const ReferenceRecord& record) {
  JsonWriter json;
  json.begin_object();
  json.field("type", "reference");
  json.field("block", record.block);
  json.field("start", record.start);
  json.field("duration", record.duration);
  json.field("effective_duration", at_least_1(record.duration - record.delay));
  json.field("sample_cost", record.sample_cost);
  write_machine(json, record.machine);
  write_load(json, record.load);
  write_points(json, record.points, false);
  json.end_object();
  return json.text();
}

std::string to_json(const SamplesRecord& record) {
  JsonWriter json;
  json.begin_object();
  json.field("type", "samples");
  json.field("run_time", record.run_time);
  json.field("duration", record.duration);
  json.field("total", record.total);
  json.field("in_scope", record.in_scope);
  if (record.in_kernel > 0) json.field("in_kernel", record.in_kernel);
  json.key("lines").begin_array();
  for (const LineCount& line : record.lines) {
    json.begin_object();
    json.field("kind", line.kind);
    json.field("location", line.location);
    if (!line.function.empty()) json.field("function", line.function);
    json.field("count", line.count);
    json.end_object();
  }
  json.end_array();
  write_callers(json, record.callers);
  if (!record.locks.empty()) write_locks(json, record.locks);
  if (!record.regions.empty()) write_list(json, "regions", record.regions);
  write_points(json, record.points, true);
  json.field("experiments", record.experiments);
  json.key("discarded").begin_object();
  json.field("few_visits", record.discarded.few_visits);
  json.field("all_delay", record.discarded.all_delay);
  json.field("shutdown", record.discarded.shutdown);
  json.field("standstill", record.discarded.standstill);
  json.end_object();
  json.field("threads", record.threads);
  if (record.processes) {
    json.field("processes", record.processes->joined);
    json.field("processes_running", record.processes->running);
  }
  if (record.children_time > 0) json.field("children_time", record.children_time);
  write_load(json, record.load);
  json.field("final", record.final);
  json.end_object();
  return json.text();
}

bool ProfileWriter::open(const char* path) noexcept {
  // `coz run` has checked the path, and resolved the user's own links: a link or a pipe here is
  // new.
  descriptor_ = ::open(
      path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0666);
  if (descriptor_ < 0) return false;
  descriptor_ = move_high(descriptor_);
  return true;
}

void ProfileWriter::write_line(std::string line) {
  if (failed_) return;
  line += '\n';
  std::size_t written = 0;
  while (written < line.size()) {
    const long result = harmless_write(descriptor_, line.data() + written, line.size() - written);
    if (result == -EINTR) continue;
    if (result <= 0) {
      failed_ = true;
      message(
          "the profile cannot be written: %s. The program runs on; the experiments from here on "
          "are lost, those before are kept",
          std::strerror(static_cast<int>(-result)));
      return;
    }
    written += static_cast<std::size_t>(result);
  }
}

}  // namespace coz
