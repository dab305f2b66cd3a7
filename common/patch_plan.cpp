#include "common/patch_plan.h"

#include <algorithm>

#include "common/text.h"

namespace coz {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::optional<Bytes> from_hex(std::string_view text, std::size_t max_size) {
  if (text.size() % 2 != 0 || text.size() > 2 * max_size) return std::nullopt;
  Bytes bytes(text.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = parse_number<std::uint8_t>(text.substr(2 * i, 2), 16);
    if (!byte) return std::nullopt;
    bytes[i] = *byte;
  }
  return bytes;
}

bool parse_fixups(std::string_view text, PatchPlan& plan) {
  while (!text.empty()) {
    const char kind = text.front();
    std::uint8_t number = 0;
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (kind == 'd') {
      plan.displacement_at = number;
    } else if (kind == 'a') {
      plan.addresses_at.push_back(number);
    } else if (kind == 'p') {
      plan.pushed = number;
    } else {
      return false;
    }
  }
  return true;
}

bool is_valid(const PatchPlan& plan) {
  const std::size_t size = plan.code.size();
  const bool has_room = plan.displacement_at == 0 || plan.displacement_at + 4U <= size;
  return !plan.original.empty() && !plan.code.empty() && has_room &&
         (plan.pushed == 0 || plan.pushed == 8) &&
         std::all_of(plan.addresses_at.begin(), plan.addresses_at.end(),
                     [&](std::uint8_t offset) { return offset + 8U <= size; });
}

}  // namespace

std::string encode(const PatchPlan& plan) {
  std::string text = to_hex(plan.original) + "/";
  if (plan.code != plan.original) text += to_hex(plan.code);
  text += '/';
  if (plan.displacement_at != 0) text += "d" + std::to_string(plan.displacement_at);
  for (const std::uint8_t offset : plan.addresses_at) text += "a" + std::to_string(offset);
  if (plan.pushed != 0) text += "p" + std::to_string(plan.pushed);
  return text;
}

std::optional<PatchPlan> parse_patch_plan(std::string_view text) {
  if (std::count(text.begin(), text.end(), '/') != 2) return std::nullopt;
  auto original = from_hex(take_part(text, '/'), kMaxInstruction);
  auto code = from_hex(take_part(text, '/'), kMaxPatchCode);
  if (!original || !code) return std::nullopt;
  PatchPlan plan;
  plan.original = *std::move(original);
  plan.code = code->empty() ? plan.original : *std::move(code);
  if (!parse_fixups(text, plan) || !is_valid(plan)) return std::nullopt;
  return plan;
}

}  // namespace coz
