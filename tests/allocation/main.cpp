// build/tests/allocation SHAPE LINES SEED SECONDS POLICY PROFILE: writes the profile of a simulated
// program in combined windows, and prints what each line really saves at 50 %, a line each.
//
// POLICY: samples (main targets are drawn by samples) or open (where they decide something).
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "tests/allocation/allocation.h"

int main(int argc, char** argv) {
  const std::map<std::string, allocation::Shape> shapes = {
      {"serial", allocation::Shape::kSerial},
      {"join", allocation::Shape::kJoin},
      {"pipeline", allocation::Shape::kPipeline},
      {"lock", allocation::Shape::kLock}};
  if (argc != 7 || !shapes.contains(argv[1])) {
    std::fputs("usage: allocation SHAPE LINES SEED SECONDS samples|open PROFILE\n", stderr);
    return 2;
  }
  allocation::SimulatedProgram program(shapes.at(argv[1]), std::strtoul(argv[2], nullptr, 10),
                                       static_cast<std::uint32_t>(std::atoi(argv[3])));
  allocation::Profiler profiler(program, std::atoi(argv[3]), std::string(argv[5]) == "open");
  coz::ProfileWriter log;
  if (!log.open(argv[6])) {
    std::perror(argv[6]);
    return 1;
  }
  profiler.write_to(&log);
  profiler.run_until(std::atoi(argv[4]) * coz::kSecond);
  for (std::size_t line = 0; line < program.lines(); ++line) {
    std::printf("%.6f\n", program.truth(line, 0.5));
  }
  return 0;
}
