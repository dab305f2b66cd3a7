// The true effects that tests/oracle/profiles.py reads: a JSON object a line.
#ifndef TESTS_ORACLE_TRUTHS_H
#define TESTS_ORACLE_TRUTHS_H

#include <ostream>
#include <string>

#include "common/json.h"
#include "tests/oracle/windows.h"

namespace oracle {

// `speedup` in percent; `effect` as a fraction.
inline void write_truth(std::ostream& to, const std::string& profile, Line line, int speedup,
                        double effect) {
  coz::JsonWriter json;
  json.begin_object().field("profile", profile);
  json.field("location", Windows::kFile + (":" + std::to_string(line + 1)));
  json.field("speedup", speedup / 100.0).field("effect", effect).end_object();
  to << json.text() << '\n';
}

}  // namespace oracle

#endif  // TESTS_ORACLE_TRUTHS_H
