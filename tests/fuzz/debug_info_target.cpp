// Any bytes as a program: everything that the helper reads of ELF and DWARF, and that what it makes
// of it is a table that the runtime takes.
#include <memory>
#include <string>
#include <vector>

#include "common/line_table.h"
#include "linetable/cache/build_table.h"
#include "linetable/dwarf/debug_info.h"
#include "linetable/query/location_query.h"
#include "linetable/symbols/symbol_functions.h"
#include "linetable/table/table_builder.h"
#include "tests/fuzz/target.h"

namespace {

using coz::LineTable;
using namespace coz::linetable;

void check_table(const std::string& bytes) {
  static const MemoryFile file("made");
  file.hold(bytes.data(), bytes.size());
  LineTable table;
  require(LineTable::open_descriptor(file.descriptor(), table) == nullptr, "a good table");
  std::vector<std::uint8_t> in_scope(table.file_count(), 1);
  coz::LineLocation found;
  for (std::uint64_t address = 0; address < 0x4000; address += 7) {
    static_cast<void>(table.frames_in_scope(address, in_scope, {&found, 1}, coz::Lineless::kFind));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const MemoryFile file("program");
  file.hold(bytes, size);
  const std::string path = file.path();
  {
    ElfFile binary;
    if (binary.open(path) != nullptr || !binary.is_loadable()) return 0;
    std::vector<std::string> warnings;
    TableBuilder builder;
    // Without folders for other files: what is not in the input does not count.
    std::size_t rows =
        binary.has_debug_info() ? read_debug_info(binary, binary, builder, warnings).rows : 0;
    rows += add_symbol_functions(binary, binary, builder);
    if (rows > 0) {
      const std::string table = builder.finish(binary.base_address(), binary.build_id());
      if (!table.empty()) check_table(table);
    }
  }
  LocationQuery query;
  query.binary = path;
  query.search.folders.clear();
  query.names = {"main", "main.c:5", "main.c:%", "%"};
  std::vector<LocationAnswer> answers;
  std::string error;
  if (find_locations(query, answers, error)) static_cast<void>(to_json(answers));
  return 0;
}
