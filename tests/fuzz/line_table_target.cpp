// Any bytes as a line table: everything that the runtime and the helper read of one. The first byte
// says whether the header's checksum and sizes are to be put right, without which few inputs come
// further.
#include <cstring>
#include <string>
#include <vector>

#include "common/fnv1a.h"
#include "common/line_table.h"
#include "common/line_table_format.h"
#include "linetable/query/table_queries.h"
#include "tests/fuzz/target.h"

namespace {

using coz::LineTable;

std::string repaired(const std::uint8_t* bytes, std::size_t size) {
  std::string file(reinterpret_cast<const char*>(bytes), size);
  coz::LineTableHeader header;
  if (file.size() < sizeof header) return file;
  std::memcpy(&header, file.data(), sizeof header);
  std::memcpy(header.magic, coz::kLineTableMagic, sizeof header.magic);
  header.version = coz::kLineTableVersion;
  header.header_size = sizeof header;
  header.file_size = file.size();
  header.header_checksum = coz::fnv1a(&header, offsetof(coz::LineTableHeader, header_checksum));
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

// What the signal handler does.
void look_up(const LineTable& table, const std::vector<std::uint8_t>& in_scope) {
  coz::LineLocation found[4];
  for (std::uint64_t address = 0; address < 0x100; address += 3) {
    for (const auto lineless : {coz::Lineless::kSkip, coz::Lineless::kFind}) {
      const std::size_t count = table.frames_in_scope(address, in_scope, found, lineless);
      require(count <= 4, "no more places than there is room for");
      for (std::size_t i = 0; i < count; ++i) {
        require(table.line(found[i].line_id).has_value(), "a place has a line");
      }
    }
  }
  static_cast<void>(table.find_chain(~std::uint64_t{0}));
}

void ask(const LineTable& table) {
  const coz::SourceScope everything(std::string_view("%"));
  coz::linetable::WantedTargets wanted;
  wanted.lines = {{"a.c:10", {"a.c", 10}}, {"b.h:5", {"b.h", 5}}};
  wanted.functions = {"outer", "a.c:outer", "n::f<int>(", ""};
  static_cast<void>(coz::linetable::describe_scope(table, everything, wanted));
  std::size_t printed = 0;
  const auto print = [&](const std::string& text) { printed += text.size(); };
  coz::linetable::list_lines(table, everything, false, print);
  coz::linetable::list_lines(table, coz::SourceScope(std::string_view{}), true, print);
  for (std::uint32_t i = 0; i < table.function_count() && i < 64; ++i) {
    static_cast<void>(table.function_location(i));
  }
  static_cast<void>(table.find_line("/src/a.c", 10));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const MemoryFile file("table");
  if (size == 0) return 0;
  const std::string content = bytes[0] % 4 == 0
                                  ? std::string(reinterpret_cast<const char*>(bytes) + 1, size - 1)
                                  : repaired(bytes + 1, size - 1);
  file.hold(content.data(), content.size());
  LineTable table;
  if (LineTable::open_descriptor(file.descriptor(), table) != nullptr) return 0;
  look_up(table, table.files_in_scope(coz::SourceScope(std::string_view("%"))));
  ask(table);
  return 0;
}
