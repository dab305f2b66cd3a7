// What records say of the processors and of who used them.
#include <catch2/catch.hpp>
#include <string>

#include "profile_log/profile_writer.h"

using coz::to_json;

namespace {

bool holds(const std::string& json, const char* text) {
  return json.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("processor times are written where they are known") {
  coz::ExperimentRecord experiment;
  const auto has = [&](const char* text) { return holds(to_json(experiment), text); };
  experiment.processor_time = 812345678;
  CHECK(has(R"("processor_time":812345678,"flags")"));
  experiment.core_wait = 0;
  CHECK(has(R"("processor_time":812345678,"core_wait":0,"flags")"));
  experiment.machine = coz::MachineTime{280'000'000, 0};
  CHECK(has(R"("core_wait":0,"machine_busy":280000000,"machine_stolen":0,"flags")"));
  coz::ReferenceRecord reference;
  reference.machine = coz::MachineTime{0, 10'000'000};
  CHECK(holds(to_json(reference), R"("machine_busy":0,"machine_stolen":10000000,"points")"));
}

TEST_CASE("what threads do is written where it is known") {
  coz::ExperimentRecord experiment;
  CHECK_FALSE(holds(to_json(experiment), "threads"));
  experiment.threads = coz::ThreadUse{1200, {}};
  CHECK(holds(to_json(experiment), R"("threads":{"waited":1200},)"));
  experiment.threads->each = {{2, 900, 80, 7}, {5, 600, 0, 0}};
  CHECK(holds(to_json(experiment),
              R"("threads":{"waited":1200,"each":[[2,900,80,7],[5,600,0,0]]},)"));
}
