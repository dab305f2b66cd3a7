// Whether what a user wrote names a function.
#ifndef LINETABLE_QUERY_FUNCTION_MATCH_H
#define LINETABLE_QUERY_FUNCTION_MATCH_H

#include <string_view>

namespace coz::linetable {

// "ns::f" of "int ns::f<int>(int, char) const": without parameters, arguments of the template and
// return type. A view into `name`.
[[nodiscard]] std::string_view bare_function_name(std::string_view name);

// `name` is the demangled name, `path` the file that the function is in. `wanted` may be the whole
// name, or the bare one, or the latter's end from some "::" on; and before it, with a colon, the
// path or its end.
[[nodiscard]] bool matches_function(std::string_view wanted, std::string_view name,
                                    std::string_view path);

// How little `name` resembles `wanted`, both bare: 0 where one contains the other, else the number
// of letters to change. For finding what a misspelt name may have meant.
[[nodiscard]] unsigned name_distance(std::string_view wanted, std::string_view name);

}  // namespace coz::linetable

#endif  // LINETABLE_QUERY_FUNCTION_MATCH_H
