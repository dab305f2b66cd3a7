// Runs a program and finds which of its objects' accesses alias: `coz-linetable accesses`.
#ifndef LINETABLE_ACCESSES_ALIAS_SEARCH_H
#define LINETABLE_ACCESSES_ALIAS_SEARCH_H

#include <chrono>
#include <string>

namespace coz::linetable {

// JSON (docs/launch_contract.md). False if the program cannot be traced; `answer` is then the
// reason. `time`: how long the program runs, about.
bool search_aliases(char** argv, std::chrono::microseconds time, std::string& answer);

}  // namespace coz::linetable

#endif  // LINETABLE_ACCESSES_ALIAS_SEARCH_H
