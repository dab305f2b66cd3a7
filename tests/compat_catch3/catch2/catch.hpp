// Lets tests written for Catch2 v2 (Debian 12) compile with v3 (Debian 13). On the include path only with v3.
#pragma once

#include <catch2/catch_all.hpp>

using Catch::Approx;
namespace Matchers = Catch::Matchers;
