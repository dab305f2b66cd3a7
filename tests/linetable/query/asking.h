// Asking for locations in a compiled program.
#ifndef TESTS_LINETABLE_QUERY_ASKING_H
#define TESTS_LINETABLE_QUERY_ASKING_H

#include <catch2/catch.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "linetable/query/location_query.h"

inline std::vector<coz::linetable::LocationAnswer> ask(const std::string& binary,
                                                       const std::vector<std::string>& names) {
  coz::linetable::LocationQuery query;
  query.binary = binary;
  query.names = names;
  std::vector<coz::linetable::LocationAnswer> answers;
  std::string error;
  REQUIRE(coz::linetable::find_locations(query, answers, error));
  return answers;
}

// How many a name has, if it stands for one location; else 0.
inline std::size_t addresses(const coz::linetable::LocationAnswer& answer) {
  return answer.found.size() == 1 ? answer.found[0].addresses.size() : 0;
}

#endif  // TESTS_LINETABLE_QUERY_ASKING_H
