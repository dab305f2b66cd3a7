#include "lifecycle/attach_request.h"

#include <catch2/catch.hpp>

using coz::names_executable;
using coz::request_attach;

TEST_CASE("a pattern names an executable by its path, or by its name alone") {
  CHECK(names_executable("/usr/bin/prog", "/usr/bin/prog"));
  CHECK(names_executable("prog", "/usr/bin/prog"));
  CHECK(names_executable("other\n\npr%\n", "/usr/bin/prog"));
  CHECK(names_executable("%/bin/prog", "/usr/bin/prog"));
  CHECK_FALSE(names_executable("bin/prog", "/usr/bin/prog"));
  CHECK_FALSE(names_executable("pro", "/usr/bin/prog"));
  CHECK_FALSE(names_executable("", "/usr/bin/prog"));
}

TEST_CASE("a process that is not wanted does not ask, and none waits for a coz run that is gone") {
  CHECK_FALSE(request_attach(nullptr));
  CHECK_FALSE(request_attach(""));
  CHECK_FALSE(request_attach("/nonexistent/requests"));
  CHECK_FALSE(request_attach("/nonexistent/requests\nnot-this-program"));
  CHECK_FALSE(request_attach("/nonexistent/requests\n%"));
}
