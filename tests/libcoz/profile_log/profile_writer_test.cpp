#include "profile_log/profile_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

using coz::ExperimentRecord;
using coz::PointKind;
using coz::ProfileWriter;
using coz::ReferenceRecord;
using coz::RunRecord;
using coz::SamplesRecord;
using coz::to_json;

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class TemporaryFile {
 public:
  TemporaryFile() {
    const int descriptor = mkstemp(path_.data());
    REQUIRE(descriptor >= 0);
    close(descriptor);
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/coz_profile_XXXXXX";
};

// What is written to standard error meanwhile.
template <typename Action>
std::string messages_of(Action action) {
  const TemporaryFile file;
  const int saved = dup(STDERR_FILENO);
  const int target = open(file.path().c_str(), O_WRONLY | O_TRUNC);
  dup2(target, STDERR_FILENO);
  action();
  dup2(saved, STDERR_FILENO);
  close(target);
  close(saved);
  return contents(file.path());
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

RunRecord run_record() {
  RunRecord run;
  run.coz_version = "1.0.0";
  run.time = 1700000000123456789;
  run.program = "/usr/bin/app";
  run.arguments = {"-n", "a \"b\""};
  run.build_id = "8f3c";
  run.sampling = "perf-trap";
  run.period = 250000;
  run.seed = 18446744073709551615U;
  run.cores = 2;
  run.granularity = "line";
  run.scope = {"src/%"};
  return run;
}

ExperimentRecord experiment_record() {
  ExperimentRecord experiment;
  experiment.block = 12;
  experiment.kind = "line";
  experiment.location = "/src/app.cpp:42";
  experiment.function = "work";
  experiment.speedup = 25;
  experiment.start = 1000;
  experiment.duration = 500;
  experiment.delay = 120;
  experiment.target_samples = 7;
  experiment.probe_time = 310.25;
  experiment.samples = 90;
  experiment.target_samples_so_far = 33;
  experiment.run_time = 1380;
  experiment.at_zero = coz::AtZero{21, 900};
  return experiment;
}

}  // namespace

TEST_CASE("a combined window names its companions by number") {
  RunRecord run = run_record();
  CHECK(to_json(run).find("companion_dose") == std::string::npos);
  run.companion_dose = 0.05;
  CHECK(count_of(to_json(run), R"("companion_dose":0.05)") == 1);
  CHECK(to_json(coz::TargetRecord{3, "function", "/src/app.cpp:work", "work"}) ==
        R"({"type":"target","number":3,"kind":"function","location":"/src/app.cpp:work",)"
        R"("function":"work"})");
  ExperimentRecord experiment = experiment_record();
  CHECK(to_json(experiment).find("companions") == std::string::npos);
  experiment.companions.emplace();
  CHECK(count_of(to_json(experiment), R"("companions":[])") == 1);
  experiment.companions = {{3, 25, 7}, {0, 100, 0}};
  CHECK(count_of(to_json(experiment), R"("companions":[[3,0.25,7],[0,1,0]])") == 1);
}

TEST_CASE("a run record") {
  CHECK(
      to_json(run_record()) ==
      R"({"type":"run","format":"coz-profile","version":1,"coz":"1.0.0",)"
      R"("time":1700000000123456789,"program":"/usr/bin/app","arguments":["-n","a \"b\""],)"
      R"("build_id":"8f3c","sampling":"perf-trap","period":250000,)"
      R"("seed":18446744073709551615,"cores":2,"granularity":"line","scope":["src/%"],"end_to_end":false})");
}

TEST_CASE("a run record names the binaries in scope, if they were chosen") {
  RunRecord record = run_record();
  record.binaries = {"MAIN", "%/libx.so%"};
  CHECK(count_of(to_json(record), R"("scope":["src/%"],"binaries":["MAIN","%/libx.so%"],)") == 1);
}

TEST_CASE("a run record of a single speedup says so") {
  RunRecord record = run_record();
  record.fixed_speedup = 25;
  CHECK(to_json(record).ends_with(R"("end_to_end":false,"fixed_speedup":0.25})"));
  record.fixed_speedup = 0;
  CHECK(to_json(record).ends_with(R"("fixed_speedup":0})"));
}

TEST_CASE("a samples record names the regions that were entered") {
  SamplesRecord record;
  CHECK(to_json(record).find("regions") == std::string::npos);
  record.regions = {"a", "b"};
  CHECK(to_json(record).find(R"("regions":["a","b"])") != std::string::npos);
}

TEST_CASE("a run record holds what was chosen") {
  RunRecord record = run_record();
  record.fixed = {"/src/a.c:10", "region part"};
  record.speedups = {25, 50};
  CHECK(to_json(record).ends_with(
      R"("end_to_end":false,"fixed":["/src/a.c:10","region part"],"speedups":[0.25,0.5]})"));
}

TEST_CASE("an experiment, without points and without flags") {
  CHECK(
      to_json(experiment_record()) ==
      R"({"type":"experiment","block":12,"kind":"line","location":"/src/app.cpp:42","function":"work",)"
      R"("speedup":0.25,"start":1000,"duration":500,"effective_duration":380,"delay":120,)"
      R"("hits":7,"samples":90,"line_samples":33,"run_time":1380,)"
      R"("line_samples_at_0":21,"run_time_at_0":900,"probe_time":310.25,"flags":[],"points":[]})");
}

TEST_CASE("a reference window") {
  ReferenceRecord record;
  record.block = 3;
  record.start = 1000;
  record.duration = 500;
  record.delay = 20;
  record.sample_cost = 31000;
  CHECK(to_json(record) ==
        R"({"type":"reference","block":3,"start":1000,"duration":500,"effective_duration":480,)"
        R"("sample_cost":31000,"points":[]})");
}

TEST_CASE("the first half of a window is written where there is one") {
  ExperimentRecord experiment = experiment_record();
  experiment.points = {{.name = "item",
                        .kind = PointKind::kThroughput,
                        .visits = 5,
                        .elapsed = 300,
                        .half_visits = 2,
                        .half_elapsed = 120}};
  const std::string json = to_json(experiment);
  CHECK(json.substr(json.find(R"("points")")) ==
        R"("points":[{"name":"item","kind":"throughput","visits":5,"elapsed":300,)"
        R"("half_visits":2,"half_elapsed":120}]})");
}

TEST_CASE("an experiment with a point of each kind") {
  ExperimentRecord experiment = experiment_record();
  experiment.points = {
      {.name = "item", .kind = PointKind::kThroughput, .visits = 5, .elapsed = 300},
      {.name = "request",
       .kind = PointKind::kBegin,
       .arrivals = 4,
       .departures = 3,
       .elapsed = 380,
       .in_progress = 1.5},
      {.name = "in", .kind = PointKind::kArrival, .visits = 9, .elapsed = 370},
  };
  const std::string json = to_json(experiment);
  CHECK(json.substr(json.find(R"("points")")) ==
        R"("points":[{"name":"item","kind":"throughput","visits":5,"elapsed":300},)"
        R"({"name":"request","kind":"latency","arrivals":4,"departures":3,"in_progress":1.5,)"
        R"("elapsed":380},{"name":"in","kind":"arrival","visits":9,"elapsed":370}]})");
}

TEST_CASE("no effective time is written as a nanosecond, for readers need some") {
  ExperimentRecord experiment = experiment_record();
  experiment.delay = experiment.duration + 1;
  experiment.points = {{.name = "item",
                        .kind = PointKind::kThroughput,
                        .visits = 5,
                        .elapsed = -300,
                        .half_visits = 2,
                        .half_elapsed = -10}};
  const std::string json = to_json(experiment);
  CHECK(json.find(R"("effective_duration":1,)") != std::string::npos);
  CHECK(json.find(R"("elapsed":1,"half_visits":2,"half_elapsed":1})") != std::string::npos);
}

TEST_CASE("an experiment that was unsettled says so, and an unknown function is left out") {
  ExperimentRecord experiment = experiment_record();
  experiment.unsettled = true;
  experiment.function.clear();
  const std::string json = to_json(experiment);
  CHECK(json.find(R"("flags":["unsettled"])") != std::string::npos);
  CHECK(json.find(R"("location":"/src/app.cpp:42","speedup":0.25)") != std::string::npos);
}

TEST_CASE("speedups are written as exact fractions") {
  const int speedup = GENERATE(0, 10, 35, 90, 100);
  const char* fraction = speedup == 0    ? "0"
                         : speedup == 10 ? "0.1"
                         : speedup == 35 ? "0.35"
                         : speedup == 90 ? "0.9"
                                         : "1";
  ExperimentRecord experiment;
  experiment.speedup = speedup;
  CHECK(to_json(experiment).find(std::string(R"("speedup":)") + fraction + ",") !=
        std::string::npos);
}

TEST_CASE("a samples record has totals, of which latency points have no visits") {
  SamplesRecord samples;
  samples.run_time = 900;
  samples.duration = 1000;
  samples.total = 50;
  samples.in_scope = 40;
  samples.lines = {{"line", "/src/a.c:1", "f", 30}, {"region", "region x", "", 10}};
  samples.callers = {{"/src/a.c:1", "f", "/src/b.c:7", "g", 6}, {"/src/a.c:1", "", "", "", 2}};
  samples.locks = {{"lock /src/a.c:1", "table", "/src/b.c:7", "g", 3, 90},
                   {"lock /src/a.c:1", "", "", "", 2, 20, 1},
                   {"lock /src/a.c:1", "", "", "", 1, 10}};
  samples.points = {
      {.name = "item", .kind = PointKind::kThroughput, .visits = 5},
      {.name = "request", .kind = PointKind::kBegin, .arrivals = 4, .departures = 3},
  };
  samples.experiments = 3;
  samples.discarded = {.few_visits = 2, .all_delay = 4, .shutdown = 1, .standstill = 5};
  samples.threads = 8;
  samples.processes = {.joined = 4, .running = 1};
  samples.children_time = 12, samples.in_kernel = 7;
  samples.final = true;
  CHECK(
      to_json(samples) ==
      R"({"type":"samples","run_time":900,"duration":1000,"total":50,"in_scope":40,)"
      R"("in_kernel":7,"lines":[{"kind":"line","location":"/src/a.c:1","function":"f","count":30},)"
      R"({"kind":"region","location":"region x","count":10}],)"
      R"("callers":[{"location":"/src/a.c:1","function":"f","caller":"/src/b.c:7",)"
      R"("caller_function":"g","count":6},)"
      R"({"location":"/src/a.c:1","count":2}],)"
      R"("locks":[{"location":"lock /src/a.c:1","lock":"table","holder":"/src/b.c:7",)"
      R"("holder_function":"g","waits":3,"waited":90},)"
      R"({"location":"lock /src/a.c:1","unnamed":1,"waits":2,"waited":20},)"
      R"({"location":"lock /src/a.c:1","waits":1,"waited":10}],)"
      R"("points":[{"name":"item","kind":"throughput","visits":5},)"
      R"({"name":"request","kind":"latency","arrivals":4,"departures":3}],)"
      R"("experiments":3,"discarded":{"few_visits":2,"all_delay":4,"shutdown":1,"standstill":5},"threads":8,)"
      R"("processes":4,"processes_running":1,"children_time":12,"final":true})");
}

TEST_CASE("a name with line breaks or broken bytes still makes one line of valid text") {
  ExperimentRecord experiment;
  experiment.location = "/src/a\n\xff.c:1";
  CHECK(to_json(experiment).find("\"location\":\"/src/a\\u000a\xef\xbf\xbd.c:1\"") !=
        std::string::npos);
}

TEST_CASE("records are appended, one a line, to what stands in the file") {
  const TemporaryFile file;
  std::ofstream(file.path()) << "before\n";
  {
    ProfileWriter writer;
    REQUIRE(writer.open(file.path().c_str()));
    writer.append(run_record());
    writer.append(experiment_record());
  }
  ProfileWriter second_run;
  REQUIRE(second_run.open(file.path().c_str()));
  second_run.append(run_record());
  const std::string run = to_json(run_record()) + "\n";
  const std::string experiment = to_json(experiment_record()) + "\n";
  CHECK(contents(file.path()) == "before\n" + run + experiment + run);
}

TEST_CASE("a record can be read as soon as it is written") {
  const TemporaryFile file;
  ProfileWriter writer;
  REQUIRE(writer.open(file.path().c_str()));
  writer.append(run_record());
  CHECK(contents(file.path()) == to_json(run_record()) + "\n");
}

TEST_CASE("the profile's descriptor stays out of the program's way") {
  const TemporaryFile file;
  const int lowest = dup(0);
  close(lowest);
  ProfileWriter writer;
  REQUIRE(writer.open(file.path().c_str()));
  const int lowest_now = dup(0);
  close(lowest_now);
  CHECK(lowest_now == lowest);
}

TEST_CASE("a file that cannot be opened is reported to the caller") {
  ProfileWriter writer;
  errno = 0;
  CHECK_FALSE(writer.open("/nowhere/at/all/profile.coz"));
  CHECK(errno == ENOENT);
}

TEST_CASE("on a full disk there is one message, and the program runs on") {
  ProfileWriter writer;
  REQUIRE(writer.open("/dev/full"));
  const std::string messages = messages_of([&] {
    for (int i = 0; i < 5; ++i) writer.append(experiment_record());
  });
  CHECK(count_of(messages, "coz: ") == 1);
  CHECK(count_of(messages, "\n") == 1);
  CHECK(messages.find("No space left") != std::string::npos);
}

TEST_CASE("a run and its windows say by how much load is amplified") {
  RunRecord run = run_record();
  run.arrival_speedup = 750000;
  CHECK(to_json(run).ends_with(R"("end_to_end":false,"arrival_speedup":750000})"));
  const coz::LoadResult load{750000, {40, 2, 29000000, 38, 40000000, 11000000}};
  const std::string expected =
      R"("arrival_speedup":750000,"arrivals":{"count":40,"clipped":2,"charged":29000000,)"
      R"("intervals":38,"between":40000000,"computed":11000000},"points":[])";
  ExperimentRecord experiment = experiment_record();
  experiment.load = load;
  CHECK(count_of(to_json(experiment), expected) == 1);
  ReferenceRecord reference;
  reference.load = load;
  CHECK(count_of(to_json(reference), expected) == 1);
  SamplesRecord samples;
  samples.load = load;
  CHECK(count_of(to_json(samples), R"("arrival_speedup":750000)") == 1);
}

TEST_CASE("without amplification nothing is said of load") {
  CHECK(count_of(to_json(experiment_record()), "arriv") == 0);
}

TEST_CASE("a load record") {
  CHECK(to_json(coz::LoadRecord{5, 1000, 250000, 1000000, 1000.5}) ==
        R"({"type":"load","start":5,"duration":1000,"arrival_speedup":250000,)"
        R"("interval":1000000,"rate":1000.5})");
}

TEST_CASE("operations with identities have durations in a window, and losses in the totals") {
  ExperimentRecord experiment = experiment_record();
  coz::PointResult request;
  request.name = "request";
  request.kind = PointKind::kBegin;
  request.elapsed = 380;
  request.durations = {{7, 2}, {700, 1}};
  request.lost = 5;
  experiment.points = {request};
  CHECK(count_of(to_json(experiment), R"("elapsed":380,"durations":[[7,2],[700,1]]})") == 1);
  SamplesRecord samples;
  samples.points = {request};
  samples.points[0].durations.clear();
  CHECK(count_of(to_json(samples), R"("departures":0,"lost":5})") == 1);
}
