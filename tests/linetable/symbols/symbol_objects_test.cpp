// Static variables, of a real compilation.
#include "linetable/symbols/symbol_objects.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <sstream>
#include <string>

#include "common/line_table.h"
#include "linetable/cache/build_table.h"
#include "tests/linetable/compiled_program.h"
#include "tests/linetable/temporary_folder.h"

using namespace coz::linetable;
using coz::LineTable;

namespace {

constexpr const char* kSource = R"(
#include <mutex>
#include <string>
namespace cache { std::mutex table_lock; struct Shard { long hits; std::mutex lock; }; static Shard shards[4]; }
static const char constants[64] = "read only";
struct Base { virtual ~Base() {} virtual void a() {} virtual void b() {} virtual void c() {} };
Base base;
thread_local char of_a_thread[64];
int small;
int main() {
  const std::scoped_lock lock(cache::table_lock, cache::shards[small].lock);
  return constants[small] + of_a_thread[small];
}
)";

LineTable table_of(const std::string& binary, const std::string& cache) {
  BuildOptions options;
  options.binary = binary;
  options.cache_dir = cache;
  options.search.folders = {};
  const BuildResult result = build_table(options);
  INFO(to_json(result));
  REQUIRE(result.error == BuildError::kNone);
  LineTable table;
  REQUIRE(LineTable::open(result.table.c_str(), table) == nullptr);
  return table;
}

std::uint64_t address_of(const std::string& binary, const std::string& symbol) {
  std::istringstream line(output_of("nm -C " + binary + " | grep ' " + symbol + "$'"));
  std::uint64_t address = 0;
  line >> std::hex >> address;
  REQUIRE(address != 0);
  return address;
}

}  // namespace

TEST_CASE("variables as large as a lock have their names", "[linetable][symbols][compile]") {
  const TemporaryFolder folder;
  write_whole(folder / "locks.cc", kSource);
  const std::string binary = folder / "locks";
  REQUIRE(compile_cpp("-g -O0", folder / "locks.cc", binary));
  const LineTable table = table_of(binary, folder / "cache");
  const auto object = [&](const std::string& symbol, std::uint64_t offset = 0) {
    return table.find_object(address_of(binary, symbol) + offset - table.base_address());
  };
  REQUIRE(object("cache::table_lock").name != nullptr);
  CHECK(std::string(object("cache::table_lock").name) == "cache::table_lock");
  REQUIRE(object("cache::shards", 3).name != nullptr);
  CHECK(std::string(object("cache::shards", 56).name) == "cache::shards");
  CHECK(object("cache::shards", 56).offset == 56);
  CHECK(object("constants").name == nullptr);
  CHECK(object("small").name == nullptr);
  // Written by the loader only, and one for each thread.
  CHECK(object("vtable for Base").name == nullptr);
  CHECK(output_of("nm " + binary + " | grep of_a_thread") != "");
  for (std::uint64_t address = 0; address < 64; ++address) {
    CHECK(table.find_object(address).name == nullptr);
  }
}
