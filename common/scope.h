// Which source files may hold targets: the patterns of --source-scope.
//
// `%` stands for any run of characters, "/" included; everything else stands for itself. A pattern
// must match the whole path; one that begins with neither "/" nor "%" may also match from any
// path component on, so that "src/%.c" finds "/home/me/project/src/a.c".
//
// A pattern "re:EXPRESSION" is a POSIX extended regular expression, to be found anywhere in the
// path. One behind "!" excludes what it matches, whatever else does.
//
// Without patterns, or with exclusions only, the default scope applies: every file, except headers
// of the system and of compilers, standard libraries, language runtimes and downloaded packages.
// Whatever the patterns, the profiler's own header coz.h is never in scope: a progress point is not
// the program's work.
//
// Constructing a scope allocates; contains() does not, but is meant to be asked once per file and
// not from a signal handler. A constructed scope may be shared by threads.
#ifndef COMMON_SCOPE_H
#define COMMON_SCOPE_H

#include <string>
#include <string_view>
#include <vector>

namespace coz {

class SourceScope {
 public:
  // The default scope.
  SourceScope() = default;

  // One pattern a line, as in COZ_SOURCE_SCOPE. Empty lines are ignored.
  explicit SourceScope(std::string_view newline_separated);

  explicit SourceScope(const std::vector<std::string_view>& patterns);

  [[nodiscard]] bool contains(const char* path) const noexcept;

 private:
  void add(std::string_view pattern);

  std::vector<std::string> patterns_;
};

// True when `pattern`, in which `%` matches any run of characters, matches the whole of `text`.
[[nodiscard]] bool wildcard_match(std::string_view pattern, std::string_view text) noexcept;

}  // namespace coz

#endif  // COMMON_SCOPE_H
