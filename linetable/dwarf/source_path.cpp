#include "linetable/dwarf/source_path.h"

#include <cstddef>

namespace coz::linetable {
namespace {

bool ends_in_parent(std::string_view path) { return path == ".." || path.ends_with("/.."); }

// Appends the components of `more` to the normalised path `out`.
void append_components(std::string& out, std::string_view more) {
  while (!more.empty()) {
    const std::size_t slash = more.find('/');
    const std::string_view component = more.substr(0, slash);
    more.remove_prefix(slash == std::string_view::npos ? more.size() : slash + 1);
    if (component.empty() || component == ".") continue;
    const bool absolute = out.starts_with('/');
    if (component == ".." && (absolute || !out.empty()) && !ends_in_parent(out)) {
      const std::size_t last = out.rfind('/');
      if (last == std::string::npos) {
        out.clear();
      } else {
        out.resize(last == 0 ? 1 : last);  // the parent of the root is the root
      }
      continue;
    }
    if (!out.empty() && !out.ends_with('/')) out.push_back('/');
    out.append(component);
  }
}

}  // namespace

std::string normalise_source_path(std::string_view base, std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view last = slash == std::string_view::npos ? path : path.substr(slash + 1);
  if (last.starts_with('<') && last.ends_with('>')) return std::string(last);

  std::string out;
  out.reserve(base.size() + path.size() + 1);
  if (path.starts_with('/')) base = {};
  if (base.starts_with('/') || path.starts_with('/')) out.push_back('/');
  append_components(out, base);
  append_components(out, path);
  return out;
}

}  // namespace coz::linetable
