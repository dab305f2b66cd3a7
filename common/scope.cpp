#include "common/scope.h"

#include <regex.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "common/text.h"

namespace coz {
namespace {

using std::string_view_literals::operator""sv;

constexpr char kExclusion = '!';
constexpr std::string_view kRegularExpression = "re:";

// Code that the user of the profiler cannot change.
constexpr std::array kForeignTrees = {
    "/usr/include/"sv,      "/usr/lib/"sv,       "/usr/lib32/"sv,
    "/usr/lib64/"sv,        "/usr/libx32/"sv,    "/rustc/"sv,
    "/rust/deps/"sv,        "/usr/src/rustc-"sv, "/usr/local/include/c++/"sv,
    "/usr/local/go/src/"sv,
};

// The same, wherever it is installed.
constexpr std::array kForeignFolders = {
    "/include/c++/"sv, "/lib/gcc/"sv,         "/lib64/gcc/"sv, "/lib/clang/"sv,
    "/lib64/clang/"sv, "/.cargo/registry/"sv, "/.rustup/"sv,   "/lib/rustlib/src/"sv,
};

// Below these cargo has a folder for each registry or repository, wherever its home is.
constexpr std::array kPackageFolders = {
    "/registry/src/"sv,
    "/git/checkouts/"sv,
};

std::string_view last_component(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// Whether a component "NAME-HASH" with cargo's 16 digits follows `folder`; a user's own folders may
// have its name.
bool has_packages_of_cargo(std::string_view path, std::string_view folder) noexcept {
  constexpr std::size_t kDigits = 16;
  for (std::size_t at = path.find(folder); at != std::string_view::npos;
       at = path.find(folder, at + 1)) {
    const std::string_view rest = path.substr(at + folder.size());
    const std::string_view name = rest.substr(0, rest.find('/'));
    if (name.size() <= kDigits || name[name.size() - kDigits - 1] != '-') continue;
    if (name.find_last_not_of("0123456789abcdef") == name.size() - kDigits - 1) return true;
  }
  return false;
}

bool in_default_scope(std::string_view path) noexcept {
  // A relative name is that of a program built with -ffile-prefix-map, or its like. Outside the
  // program's folder, it is a runtime's, built elsewhere. "<built-in>" and its like are not files.
  if (path.starts_with("../") || last_component(path).starts_with('<')) return false;
  const auto starts_path = [path](std::string_view tree) { return path.starts_with(tree); };
  const auto occurs_in_path = [path](std::string_view folder) {
    return path.find(folder) != std::string_view::npos;
  };
  const auto is_of_package = [path](std::string_view folder) {
    return has_packages_of_cargo(path, folder);
  };
  return std::none_of(kForeignTrees.begin(), kForeignTrees.end(), starts_path) &&
         std::none_of(kForeignFolders.begin(), kForeignFolders.end(), occurs_in_path) &&
         std::none_of(kPackageFolders.begin(), kPackageFolders.end(), is_of_package);
}

// Whether `pattern` matches `path` whole, or from some component on if it is not anchored.
bool matches(std::string_view pattern, std::string_view path) noexcept {
  if (wildcard_match(pattern, path)) return true;
  if (pattern.starts_with('/') || pattern.starts_with('%')) return false;
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos;
       slash = path.find('/', slash + 1)) {
    if (wildcard_match(pattern, path.substr(slash + 1))) return true;
  }
  return false;
}

}  // namespace

bool wildcard_match(std::string_view pattern, std::string_view text) noexcept {
  // Only the last `%` ever needs to be tried again: what stood before it matched as early in the
  // text as it can, so no later start can help.
  constexpr std::size_t kNone = std::string_view::npos;
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t after_wildcard = kNone;
  std::size_t retry_at = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '%') {
      after_wildcard = ++p;
      retry_at = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (after_wildcard != kNone) {
      p = after_wildcard;
      t = ++retry_at;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('%', p) == kNone;
}

SourceScope::SourceScope(std::string_view newline_separated) {
  while (!newline_separated.empty()) add(take_part(newline_separated, '\n'));
}

SourceScope::SourceScope(const std::vector<std::string_view>& patterns) {
  for (const std::string_view pattern : patterns) add(pattern);
}

void SourceScope::add(std::string_view pattern) {
  if (!pattern.empty()) patterns_.emplace_back(pattern);
}

namespace {

// Whether the POSIX extended regular expression is found in `path`; one that is none is found
// nowhere.
bool finds(const std::string& expression, const char* path) noexcept {
  regex_t compiled;
  if (regcomp(&compiled, expression.c_str(), REG_EXTENDED | REG_NOSUB) != 0) return false;
  const bool found = regexec(&compiled, path, 0, nullptr, 0) == 0;
  regfree(&compiled);
  return found;
}

bool matches_either_kind(std::string_view pattern, const char* path) {
  if (pattern.starts_with(kRegularExpression)) {
    return finds(std::string(pattern.substr(kRegularExpression.size())), path);
  }
  return matches(pattern, path);
}

// The code of marks, in the header or in the Rust crate.
bool is_of_marks(std::string_view path) {
  return last_component(path) == "coz.h" || path.ends_with("/rust/coz/src/lib.rs");
}

}  // namespace

bool SourceScope::contains(const char* path) const noexcept {
  if (path == nullptr) return false;
  const std::string_view name(path);
  if (name.empty() || is_of_marks(name)) return false;
  bool has_inclusions = false;
  bool is_included = false;
  for (const std::string_view pattern : patterns_) {
    if (pattern.starts_with(kExclusion)) {
      if (matches_either_kind(pattern.substr(1), path)) return false;
    } else {
      has_inclusions = true;
      is_included = is_included || matches_either_kind(pattern, path);
    }
  }
  return has_inclusions ? is_included : in_default_scope(name);
}

}  // namespace coz
