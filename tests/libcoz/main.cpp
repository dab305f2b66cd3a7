// The entry point of build/tests/unit_tests. Catch2 v2 generates main() here; v3 brings its own in
// a library.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
