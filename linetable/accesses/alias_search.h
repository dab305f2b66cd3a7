// Runs a program and finds which of its objects' accesses alias: `coz-linetable accesses`.
#ifndef LINETABLE_ACCESSES_ALIAS_SEARCH_H
#define LINETABLE_ACCESSES_ALIAS_SEARCH_H

#include <chrono>
#include <string>

namespace coz::linetable {

struct AliasSearch {
  char** argv = nullptr;
  // How long the program runs, about.
  std::chrono::microseconds time{30000};
  // How often it is stopped, for how many instructions; and how often it is run for that, at most.
  unsigned bursts = 12;
  unsigned steps = 1500;
  unsigned runs = 8;
};

// JSON (docs/launch_contract.md). False if the program cannot be traced; `answer` is then the
// reason.
bool search_aliases(const AliasSearch& search, std::string& answer);

}  // namespace coz::linetable

#endif  // LINETABLE_ACCESSES_ALIAS_SEARCH_H
