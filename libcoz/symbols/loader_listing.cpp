#include "symbols/loader_listing.h"

#include <elf.h>
#include <link.h>

#include <cstring>

namespace coz {
namespace {

constexpr std::uintptr_t kPage = 4096;
constexpr std::size_t kFirstRoom = 256;
constexpr std::size_t kNameRoom = 64;

struct Visit {
  LoaderListing& listing;
  // Also for those that did not fit.
  std::size_t objects = 0;
  std::size_t names = 0;
};

// The build id in a segment of notes: each has a header, a name and a description, padded to 4.
void find_build_id(std::uintptr_t begin, std::size_t size, ListedObject& out) noexcept {
  const auto padded = [](std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; };
  std::size_t at = 0;
  while (size - at >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, reinterpret_cast<const void*>(begin + at), sizeof note);
    at += sizeof note;
    if (padded(note.n_namesz) > size - at ||
        padded(note.n_descsz) > size - at - padded(note.n_namesz)) {
      return;
    }
    const auto* name = reinterpret_cast<const char*>(begin + at);
    at += padded(note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU &&
        std::memcmp(name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0 &&
        note.n_descsz <= BuildId::kMaxBytes) {
      out.build_id.size = note.n_descsz;
      std::memcpy(out.build_id.bytes.data(), reinterpret_cast<const void*>(begin + at),
                  note.n_descsz);
      out.build_id_at = begin + at;
      return;
    }
    at += padded(note.n_descsz);
  }
}

LoaderCounts counts_of(const dl_phdr_info& info) noexcept {
  return {info.dlpi_adds, info.dlpi_subs};
}

int visit_first(dl_phdr_info* info, std::size_t, void* argument) {
  *static_cast<LoaderCounts*>(argument) = counts_of(*info);
  return 1;
}

// Under the loader's lock: must not allocate, since another thread may be in the allocator and wait
// for this lock.
int visit_object(dl_phdr_info* info, std::size_t, void* argument) {
  Visit& visit = *static_cast<Visit*>(argument);
  LoaderListing& listing = visit.listing;
  listing.counts = counts_of(*info);
  std::uintptr_t code = 0;
  for (int i = 0; i < info->dlpi_phnum && code == 0; ++i) {
    const ElfW(Phdr) & segment = info->dlpi_phdr[i];
    const bool is_code = segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0;
    if (is_code) code = info->dlpi_addr + segment.p_vaddr;
  }
  if (code == 0) return 0;
  ListedObject listed;
  if (!find_loaded_object(code, listed.object)) {
    listing.complete = false;  // listed, but find_loaded_object() does not find it yet
    return 0;
  }
  listed.load_bias = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum && listed.build_id.size == 0; ++i) {
    const ElfW(Phdr) & segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    find_build_id(info->dlpi_addr + segment.p_vaddr, segment.p_memsz, listed);
  }
  if (listed.build_id_at < listed.object.begin ||
      listed.build_id_at + listed.build_id.size > listed.object.begin + kPage) {
    listed.build_id_at = 0;
  }
  const std::string_view name(info->dlpi_name == nullptr ? "" : info->dlpi_name);
  ++visit.objects;
  visit.names += name.size();
  if (listing.objects.size() == listing.objects.capacity() ||
      listing.names.capacity() - listing.names.size() < name.size()) {
    return 0;
  }
  listed.name_begin = static_cast<std::uint32_t>(listing.names.size());
  listed.name_size = static_cast<std::uint32_t>(name.size());
  listing.names += name;
  listing.objects.push_back(listed);
  return 0;
}

}  // namespace

LoaderCounts read_loader_counts() noexcept {
  LoaderCounts counts;
  dl_iterate_phdr(visit_first, &counts);
  return counts;
}

bool is_loaded(const char* part) noexcept {
  const auto has_part = [](dl_phdr_info* info, std::size_t, void* wanted) noexcept {
    const bool is_it = std::strstr(info->dlpi_name, static_cast<const char*>(wanted)) != nullptr;
    return is_it ? 1 : 0;
  };
  return dl_iterate_phdr(has_part, const_cast<char*>(part)) != 0;
}

void list_loaded_objects(LoaderListing& out) {
  std::size_t objects = kFirstRoom;
  std::size_t names = kFirstRoom * kNameRoom;
  for (;;) {
    out = {};
    out.objects.reserve(objects);
    out.names.reserve(names);
    Visit visit{out};
    dl_iterate_phdr(visit_object, &visit);
    if (visit.objects == out.objects.size()) return;
    objects = visit.objects * 2;
    names = visit.names * 2;
  }
}

}  // namespace coz
