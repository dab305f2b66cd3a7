// FNV-1a, 64 bits: a hash that is the same in every run and on every machine.
#ifndef COMMON_FNV1A_H
#define COMMON_FNV1A_H

#include <cstddef>
#include <cstdint>

namespace coz {

[[nodiscard]] inline std::uint64_t fnv1a(const void* bytes, std::size_t size) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto* byte = static_cast<const unsigned char*>(bytes);
  for (std::size_t i = 0; i < size; ++i) hash = (hash ^ byte[i]) * 0x100000001b3ULL;
  return hash;
}

}  // namespace coz

#endif  // COMMON_FNV1A_H
