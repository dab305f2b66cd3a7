#include "linetable/elf/debug_file.h"

#include <sys/mman.h>

#include <array>
#include <cstdint>

namespace coz::linetable {
namespace {

// The CRC-32 of .gnu_debuglink (that of zlib and Ethernet).
class Crc32 {
 public:
  Crc32() {
    for (std::uint32_t i = 0; i < table_.size(); ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) * 0xedb88320U);
      table_[i] = value;
    }
  }

  [[nodiscard]] std::uint32_t of(const unsigned char* bytes, std::size_t size) const {
    std::uint32_t crc = 0xffffffffU;
    for (std::size_t i = 0; i < size; ++i) crc = table_[(crc ^ bytes[i]) & 0xff] ^ (crc >> 8);
    return ~crc;
  }

 private:
  std::array<std::uint32_t, 256> table_{};
};

bool has_crc(const ElfFile& file, std::uint32_t expected) {
  const auto size = static_cast<std::size_t>(file.status().st_size);
  void* bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (bytes == MAP_FAILED) return false;
  const bool same = Crc32().of(static_cast<const unsigned char*>(bytes), size) == expected;
  munmap(bytes, size);
  return same;
}

// A file whose build-id is the binary's belongs to it; the checksum, which takes reading all of
// the file, decides only where build-ids cannot.
bool belongs_to(const ElfFile& candidate, const ElfFile& binary) {
  if (!binary.build_id().empty() && !candidate.build_id().empty()) {
    return candidate.build_id() == binary.build_id();
  }
  return binary.debug_link() && has_crc(candidate, binary.debug_link()->crc);
}

std::vector<std::string> candidate_paths(const ElfFile& binary,
                                         const std::vector<std::string>& debug_dirs) {
  std::vector<std::string> paths;
  if (binary.build_id().size() > 1) {
    for (const std::string& dir : debug_dirs) {
      paths.push_back(build_id_path(dir, binary.build_id()));
    }
  }
  if (binary.debug_link()) {
    const std::string& name = binary.debug_link()->name;
    const std::string folder = folder_of(binary.path());
    paths.push_back(folder + "/" + name);
    paths.push_back(folder + "/.debug/" + name);
    for (const std::string& dir : debug_dirs) paths.push_back(dir + folder + "/" + name);
  }
  return paths;
}

}  // namespace

std::string build_id_path(const std::string& debug_dir, const std::vector<std::uint8_t>& build_id) {
  const std::string hex = to_hex(build_id);
  return debug_dir + "/.build-id/" + hex.substr(0, 2) + "/" + hex.substr(2) + ".debug";
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::optional<ElfFile> find_separate_debug_file(const ElfFile& binary,
                                                const std::vector<std::string>& debug_dirs,
                                                std::vector<std::string>& warnings) {
  for (const std::string& path : candidate_paths(binary, debug_dirs)) {
    ElfFile candidate;
    if (candidate.open(path) != nullptr || !candidate.has_debug_info()) continue;
    if (belongs_to(candidate, binary)) return candidate;
    warnings.push_back("the debug file " + path + " belongs to another build of " + binary.path());
  }
  return std::nullopt;
}

}  // namespace coz::linetable
