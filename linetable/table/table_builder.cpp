#include "linetable/table/table_builder.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace coz::linetable {
namespace {

constexpr std::uint32_t kNoNode = 0xffffffffU;

// A stable sort by a key of up to 33 bits, in time linear in the number of items.
template <typename Item, typename Key>
void radix_sort(std::vector<Item>& items, Key key) {
  constexpr unsigned kDigitBits = 11;
  constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
  std::vector<Item> sorted(items.size());
  for (unsigned shift = 0; shift < 33; shift += kDigitBits) {
    const auto digit = [&](const Item& item) { return (key(item) >> shift) & (kDigits - 1); };
    std::array<std::size_t, kDigits + 1> begin{};
    for (const Item& item : items) ++begin[digit(item) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    for (const Item& item : items) sorted[begin[digit(item)]++] = item;
    items.swap(sorted);
  }
}

// Old ids that are used, in the order of the new ones, and the way back.
class Renumbering {
 public:
  explicit Renumbering(std::size_t count) : new_ids_(count) {}

  void use(std::uint32_t id) { new_ids_[id] = 1; }

  template <typename Less>
  void number(Less less) {
    for (std::uint32_t id = 0; id < new_ids_.size(); ++id) {
      if (new_ids_[id] != 0) old_ids_.push_back(id);
    }
    std::sort(old_ids_.begin(), old_ids_.end(), less);
    for (std::uint32_t i = 0; i < old_ids_.size(); ++i) new_ids_[old_ids_[i]] = i;
  }

  [[nodiscard]] std::uint32_t new_id(std::uint32_t old_id) const { return new_ids_[old_id]; }
  [[nodiscard]] const std::vector<std::uint32_t>& old_ids() const { return old_ids_; }

 private:
  std::vector<std::uint32_t> new_ids_;  // until number(): whether the id is used
  std::vector<std::uint32_t> old_ids_;
};

// The strings of the table end at their first NUL.
std::string_view whole(std::string_view text) { return text.substr(0, text.find('\0')); }

}  // namespace

std::uint32_t TableBuilder::StringPool::add(std::string_view text) {
  if (const auto known = ids.find(text); known != ids.end()) return known->second;
  const auto id = static_cast<std::uint32_t>(strings.size());
  ids.emplace(strings.emplace_back(text), id);
  return id;
}

std::uint32_t TableBuilder::add_file(std::string_view path) { return files_.add(whole(path)); }

std::uint32_t TableBuilder::add_function(std::string_view name, std::string_view file) {
  if (file.empty()) return functions_.add(whole(name));
  std::string key(whole(name));
  key += '\0';
  key += file;
  return functions_.add(key);
}

std::string_view TableBuilder::function_name(std::uint32_t id) const {
  return whole(functions_.strings[id]);
}

std::uint32_t TableBuilder::add_line(std::uint32_t file, std::uint32_t line) {
  return line_ids_.find_or_append(lines_, {file, line});
}

void TableBuilder::add_row(std::uint32_t address, std::uint32_t line) {
  rows_.push_back({address, line});
}

std::uint32_t TableBuilder::add_function_scope(std::uint32_t function) {
  scopes_.push_back({function, kNoNode});
  return static_cast<std::uint32_t>(scopes_.size() - 1);
}

std::uint32_t TableBuilder::add_inlined_scope(std::uint32_t function, std::uint32_t parent,
                                              std::uint32_t call_line) {
  std::uint32_t outer = kNoNode;
  if (parent != kNoScope) {
    const Scope around = scopes_[parent];
    outer =
        call_line == kNoLine ? around.outer : add_node(call_line, around.function, around.outer);
  }
  scopes_.push_back({function, outer});
  return static_cast<std::uint32_t>(scopes_.size() - 1);
}

void TableBuilder::add_range(std::uint32_t begin, std::uint32_t end, std::uint32_t scope) {
  if (begin < end) ranges_.push_back({begin, end, scope});
}

std::uint32_t TableBuilder::add_node(std::uint32_t line, std::uint32_t function,
                                     std::uint32_t outer) {
  return node_ids_.find_or_append(nodes_, {{line, function}, outer});
}

void TableBuilder::add_symbol(std::uint32_t begin, std::uint32_t end, std::uint32_t function,
                              std::uint32_t line) {
  if (begin < end) symbols_.push_back({begin, end, {line, function}});
}

void TableBuilder::add_object(std::uint32_t begin, std::uint32_t size, std::string_view name) {
  objects_.push_back({begin, size, std::string(name)});
}

void TableBuilder::sort_input() {
  // The rows must cover what symbols do.
  if (!symbols_.empty()) rows_.push_back({0, kNoLine});
  radix_sort(rows_, [](const Row& row) {
    return (std::uint64_t{row.address} << 1) | (row.line == kNoLine ? 0U : 1U);
  });
  radix_sort(ranges_, [](const Range& range) { return std::uint64_t{range.begin}; });
  radix_sort(symbols_, [](const SymbolRange& symbol) { return std::uint64_t{symbol.begin}; });
}

// What covers an address, for ascending addresses. The scopes that do are on a stack; the one on
// top, begun last, is the innermost, and its chain counts.
class TableBuilder::Cursor {
 public:
  explicit Cursor(TableBuilder& builder) : builder_(builder) {}

  void advance(std::uint32_t address) {
    const std::vector<Range>& ranges = builder_.ranges_;
    while (next_range_ < ranges.size() && ranges[next_range_].begin <= address) {
      active_.push_back(ranges[next_range_++]);
    }
    while (!active_.empty() && active_.back().end <= address) active_.pop_back();
    const std::vector<SymbolRange>& symbols = builder_.symbols_;
    while (symbol_ < symbols.size() && symbols[symbol_].end <= address) ++symbol_;
    address_ = address;
  }

  [[nodiscard]] Scope* scope() const {
    return active_.empty() ? nullptr : &builder_.scopes_[active_.back().scope];
  }

  [[nodiscard]] const SymbolRange* symbol() const {
    const std::vector<SymbolRange>& symbols = builder_.symbols_;
    const bool covers = symbol_ < symbols.size() && symbols[symbol_].begin <= address_;
    return covers ? &symbols[symbol_] : nullptr;
  }

  // The next address, up to `end`, where something else may.
  [[nodiscard]] std::uint32_t next_change(std::uint32_t end) const {
    if (!active_.empty()) end = std::min(end, active_.back().end);
    if (next_range_ < builder_.ranges_.size()) {
      end = std::min(end, builder_.ranges_[next_range_].begin);
    }
    if (symbol_ < builder_.symbols_.size()) {
      const SymbolRange& symbol = builder_.symbols_[symbol_];
      end = std::min(end, symbol.begin > address_ ? symbol.begin : symbol.end);
    }
    return end;
  }

 private:
  TableBuilder& builder_;
  std::vector<Range> active_;
  std::size_t next_range_ = 0;
  std::size_t symbol_ = 0;
  std::uint32_t address_ = 0;
};

// Compilers merge and move code, which then has no line of its own: a tenth of what clang and rustc
// write. Without a frame, its samples would count for the caller.
std::uint32_t TableBuilder::node_in(Scope& scope, std::uint32_t line) {
  if (line != kNoLine) scope.line = line;
  if (scope.line == kNoLine) return scope.outer;
  return add_node(scope.line, scope.function, scope.outer);
}

// kNoNode for a gap that neither a scope nor a symbol fills.
std::uint32_t TableBuilder::node_at(const Cursor& cursor, std::uint32_t line) {
  if (Scope* scope = cursor.scope()) return node_in(*scope, line);
  const SymbolRange* symbol = cursor.symbol();
  if (line != kNoLine) {
    return add_node(line, symbol == nullptr ? kNoFunction : symbol->frame.function, kNoNode);
  }
  if (symbol == nullptr) return kNoNode;
  return add_node(symbol->frame.line, symbol->frame.function, kNoNode);
}

// Walks rows, scopes and symbols together in the order of their addresses.
std::vector<TableBuilder::OutputRow> TableBuilder::sweep() {
  std::vector<OutputRow> output;
  const auto emit = [&output](std::uint32_t start, std::uint32_t node) {
    const std::uint32_t before = output.empty() ? kNoNode : output.back().node;
    if (node != before) output.push_back({start, node});
  };
  Cursor cursor(*this);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row row = rows_[i];
    const bool last = i + 1 == rows_.size();
    const std::uint32_t end =
        last ? std::numeric_limits<std::uint32_t>::max() : rows_[i + 1].address;
    if (row.line == kNoLine && symbols_.empty() && ranges_.empty()) {
      if (row.address < end) emit(row.address, kNoNode);
      continue;
    }
    for (std::uint32_t address = row.address; address < end; address = cursor.next_change(end)) {
      cursor.advance(address);
      emit(address, node_at(cursor, row.line));
    }
  }
  return output;
}

// Chains are numbered in the order of their first rows, so that neighbours in the code are
// neighbours in the table.
void TableBuilder::write_rows(const std::vector<OutputRow>& rows, TableContent& content) const {
  std::vector<std::uint32_t> chain_of_node(nodes_.size(), kNoChain);
  content.starts.reserve(rows.size());
  content.chains.reserve(rows.size());
  for (const OutputRow& row : rows) {
    content.starts.push_back(row.start);
    if (row.node == kNoNode) {
      content.chains.push_back(kNoChain);
      continue;
    }
    std::uint32_t& chain = chain_of_node[row.node];
    if (chain == kNoChain) {
      chain = static_cast<std::uint32_t>(content.chain_begins.size() - 1);
      for (std::uint32_t node = row.node; node != kNoNode; node = nodes_[node].outer) {
        content.frames.push_back(nodes_[node].frame);
      }
      content.chain_begins.push_back(static_cast<std::uint32_t>(content.frames.size()));
    }
    content.chains.push_back(chain);
  }
}

// Leaves out what no frame uses (lines of discarded code), sorts the rest.
void TableBuilder::write_names(TableContent& content) const {
  Renumbering lines(lines_.size());
  Renumbering files(files_.strings.size());
  Renumbering functions(functions_.strings.size());
  for (const LineTableFrame& frame : content.frames) {
    lines.use(frame.line);
    files.use(lines_[frame.line].file);
    if (frame.function != kNoFunction) functions.use(frame.function);
  }
  files.number(
      [this](std::uint32_t a, std::uint32_t b) { return files_.strings[a] < files_.strings[b]; });
  lines.number([&](std::uint32_t a, std::uint32_t b) {
    return std::pair(files.new_id(lines_[a].file), lines_[a].line) <
           std::pair(files.new_id(lines_[b].file), lines_[b].line);
  });
  functions.number(std::less<>());

  for (LineTableFrame& frame : content.frames) {
    frame.line = lines.new_id(frame.line);
    if (frame.function != kNoFunction) frame.function = functions.new_id(frame.function);
  }
  for (const std::uint32_t id : lines.old_ids()) {
    content.lines.push_back({files.new_id(lines_[id].file), lines_[id].line});
  }
  for (const std::uint32_t id : files.old_ids()) {
    content.files.push_back(content.add_string(files_.strings[id]));
  }
  for (const std::uint32_t id : functions.old_ids()) {
    content.functions.push_back(content.add_string(function_name(id)));
  }
}

void TableBuilder::write_objects(TableContent& content) {
  std::ranges::stable_sort(objects_, {}, &Object::begin);
  const auto again = std::ranges::unique(objects_, {}, &Object::begin);
  objects_.erase(again.begin(), again.end());
  for (const Object& each : objects_) {
    content.objects.push_back({each.begin, each.size, content.add_string(each.name)});
  }
}

std::string TableBuilder::finish(std::uint64_t base_address,
                                 std::span<const std::uint8_t> build_id) {
  sort_input();
  TableContent content;
  write_rows(sweep(), content);
  write_names(content);
  write_objects(content);
  return write_table(content, base_address, build_id);
}

}  // namespace coz::linetable
