// Whether what a user wrote names a function, and what it may have meant if it names none.
#ifndef LINETABLE_QUERY_FUNCTION_MATCH_H
#define LINETABLE_QUERY_FUNCTION_MATCH_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace coz::linetable {

// "ns::f" of "int ns::f<int>(int, char) const": without parameters, template arguments and return
// type. A view into `name`.
[[nodiscard]] std::string_view bare_function_name(std::string_view name);

// `name` is the demangled name, `path` the file that the function is in. `wanted` may be the whole
// name, the bare one, or the bare name's end from some "::" on; the path or its end, and a colon,
// may stand before it.
[[nodiscard]] bool matches_function(std::string_view wanted, std::string_view name,
                                    std::string_view path);

// Where the first colon stands that may separate a file from a function: none of "::"; npos:
// nowhere.
[[nodiscard]] std::size_t file_separator(std::string_view text, std::size_t from = 1);

// The name without "(anonymous namespace)::", which g++'s debug information has nowhere.
[[nodiscard]] std::string without_anonymous(std::string_view name);

// How little `name` resembles `wanted`, both bare: 0 where one contains the other, else the number
// of letters to change.
[[nodiscard]] unsigned name_distance(std::string_view wanted, std::string_view name);

// Finds what a misspelt function name may have meant. `wanted` must outlive it.
class NearestNames {
 public:
  explicit NearestNames(std::string_view wanted) : wanted_(bare_function_name(wanted)) {}

  // Considers a function, by its demangled name.
  void consider(std::string_view name);

  // The names that resemble the wanted one most, the best first; at most six.
  [[nodiscard]] std::vector<std::string> best();

 private:
  struct Candidate {
    unsigned distance;
    std::string name;
  };
  std::string_view wanted_;
  std::vector<Candidate> candidates_;
};

}  // namespace coz::linetable

#endif  // LINETABLE_QUERY_FUNCTION_MATCH_H
