// Profiles of crowds, and the true effects beside them: for tests/oracle/profiles.py.
#ifndef TESTS_ORACLE_CROWD_PROFILES_H
#define TESTS_ORACLE_CROWD_PROFILES_H

#include <cstdint>
#include <string>

#include "tests/oracle/model.h"

namespace oracle {

struct CrowdProfiles {
  Settings settings;
  std::string folder;
  std::string only;  // part of the title
  Nanoseconds length = 120 * kSecond;
  std::uint64_t draw = 0;
};

void write_crowd_profiles(const CrowdProfiles& profiles);

}  // namespace oracle

#endif  // TESTS_ORACLE_CROWD_PROFILES_H
