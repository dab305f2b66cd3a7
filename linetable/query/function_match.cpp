#include "linetable/query/function_match.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <vector>

#include "common/line_table.h"

namespace coz::linetable {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::string_view kOperator = "operator";

// Where the bracket that `name` ends in was opened; kNone if it ends in none, or in an
// unmatched one.
std::size_t opening_of_last(std::string_view name, char open, char close) {
  if (!name.ends_with(close)) return kNone;
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    depth += name[i] == close ? 1 : name[i] == open ? -1 : 0;
    if (depth == 0) return i;
  }
  return kNone;
}

// Does the word stand there? In "cooperator" and "operators" it does not.
bool is_operator_at(std::string_view name, std::size_t at) {
  const auto is_of_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  const std::size_t end = at + kOperator.size();
  return name.substr(at, kOperator.size()) == kOperator && (at == 0 || !is_of_word(name[at - 1])) &&
         (end == name.size() || !is_of_word(name[end]));
}

std::string_view without_parameters(std::string_view name) {
  // They may be followed by qualifiers, and by what the compiler adds.
  std::string_view rest = name.substr(0, name.find(" [clone "));
  for (const std::string_view qualifier : {"&&", "&", " volatile", " const"}) {
    if (rest.ends_with(qualifier)) rest.remove_suffix(qualifier.size());
    while (rest.ends_with(' ')) rest.remove_suffix(1);
  }
  const std::size_t begin = opening_of_last(rest, '(', ')');
  // "operator()" and "(anonymous namespace)" are no parameters.
  const bool is_call =
      begin != kNone && begin >= kOperator.size() && is_operator_at(rest, begin - kOperator.size());
  const bool has_parameters =
      begin != kNone && begin > 0 && !is_call && rest.substr(begin) != "(anonymous namespace)";
  return has_parameters ? rest.substr(0, begin) : name;
}

// Operators are named with spaces and brackets of their own.
bool is_operator(std::string_view name) {
  for (std::size_t at = 0; (at = name.find(kOperator, at)) != kNone; at += kOperator.size()) {
    if (is_operator_at(name, at)) return true;
  }
  return false;
}

std::string_view without_return_type(std::string_view name) {
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    const char c = name[i];
    depth += c == ')' || c == '>' || c == '}' ? 1 : c == '(' || c == '<' || c == '{' ? -1 : 0;
    if (c == ' ' && depth == 0) return name.substr(i + 1);
  }
  return name;
}

bool names(std::string_view wanted, std::string_view name) {
  if (name == wanted) return true;
  return name.size() > wanted.size() + 2 && name.ends_with(wanted) &&
         name.substr(0, name.size() - wanted.size()).ends_with("::");
}

}  // namespace

std::string_view bare_function_name(std::string_view name) {
  std::string_view bare = without_parameters(name);
  if (is_operator(bare)) return bare;
  const std::size_t arguments = opening_of_last(bare, '<', '>');
  if (arguments != kNone && arguments > 0) bare = bare.substr(0, arguments);
  return without_return_type(bare);
}

bool matches_function(std::string_view wanted, std::string_view name, std::string_view path) {
  if (wanted.empty() || name.empty()) return false;
  const std::string_view bare = bare_function_name(name);
  if (wanted == name || wanted == without_parameters(name) || names(wanted, bare)) return true;
  for (std::size_t colon = file_separator(wanted); colon != kNone;
       colon = file_separator(wanted, colon + 1)) {
    const std::string_view function = wanted.substr(colon + 1);
    const bool is_named = function == name || names(function, bare);
    if (is_named && path_ends_with(path, wanted.substr(0, colon))) return true;
  }
  const std::string shorter = without_anonymous(wanted);
  return shorter.size() < wanted.size() && matches_function(shorter, without_anonymous(name), path);
}

std::string without_anonymous(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  std::string shorter(name);
  for (std::size_t at = 0; (at = shorter.find(kAnonymous, at)) != kNone;) {
    shorter.erase(at, kAnonymous.size());
  }
  return shorter;
}

std::size_t file_separator(std::string_view text, std::size_t from) {
  for (std::size_t i = from; i + 1 < text.size(); ++i) {
    if (text[i] != ':') continue;
    if (text[i + 1] != ':') return i;
    ++i;
  }
  return kNone;
}

unsigned name_distance(std::string_view wanted, std::string_view name) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  const auto contains = [&](std::string_view whole, std::string_view part) {
    return !part.empty() &&
           std::search(whole.begin(), whole.end(), part.begin(), part.end(), same) != whole.end();
  };
  if (contains(name, wanted) || contains(wanted, name)) return 0;
  // Levenshtein's, row by row.
  std::vector<unsigned> row(name.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = static_cast<unsigned>(j);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    unsigned diagonal = row[0]++;
    for (std::size_t j = 0; j < name.size(); ++j) {
      const unsigned changed = diagonal + (same(wanted[i], name[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row[name.size()];
}

void NearestNames::consider(std::string_view name) {
  if (name.empty()) return;
  const std::string_view bare = bare_function_name(name);
  const std::size_t colons = bare.rfind("::");
  unsigned distance = name_distance(wanted_, bare);
  std::size_t limit = 2 + wanted_.size() / 4;
  if (colons != kNone) {
    // Short names resemble each other by chance.
    limit = std::max<std::size_t>(2, wanted_.size() / 3);
    distance = std::min(distance, name_distance(wanted_, bare.substr(colons + 2)));
  }
  if (distance <= limit) candidates_.push_back({distance, std::string(name)});
}

std::vector<std::string> NearestNames::best() {
  constexpr std::size_t kMaxNearest = 6;
  std::stable_sort(candidates_.begin(), candidates_.end(),
                   [](const auto& a, const auto& b) { return a.distance < b.distance; });
  std::vector<std::string> names;
  for (Candidate& candidate : candidates_) {
    if (names.size() == kMaxNearest) break;
    const bool is_new = std::find(names.begin(), names.end(), candidate.name) == names.end();
    if (is_new) names.push_back(std::move(candidate.name));
  }
  return names;
}

}  // namespace coz::linetable
