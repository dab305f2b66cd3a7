#include "linetable/layout/program_reader.h"

#include <elf.h>
#include <gelf.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "linetable/elf/sections.h"
#include "linetable/layout/frame_entries.h"

namespace coz::linetable {
namespace {

constexpr std::uint64_t kLargest = std::uint64_t{1} << 30;  // image; copies need room within 2 GB
constexpr const char* kOrBuilds =
    "compare builds that were linked in several orders instead ({seed} in the program's name)";
constexpr const char* kRefersToItself =
    "finds its way by tables of its own code addresses, which are not known here";
#ifndef SHT_RELR
constexpr unsigned SHT_RELR = 19;
#endif

// Sections and symbols of languages whose run-time systems look code addresses up in tables.
constexpr std::string_view kManagedSections[] = {".gopclntab", ".note.go.buildid", "__managedcode",
                                                 ".managed", ".svm_heap"};
constexpr std::string_view kManagedSymbols[] = {
    "caml_frametable",
    "caml_startup",
    "stg_upd_frame_info",
    "hs_init_ghc",
    "Builtins_InterpreterEntryTrampoline",  // V8
};
// Stubs and the loader's code are no functions of the program.
constexpr std::string_view kStubs[] = {".plt", ".plt.got", ".plt.sec", ".iplt", ".init", ".fini"};

template <typename Range>
bool has(const Range& range, std::string_view text) {
  return std::find(std::begin(range), std::end(range), text) != std::end(range);
}

class Reader {
 public:
  Reader(const ElfFile& file, ProgramCode& out) : file_(file), elf_(file.elf()), out_(out) {}

  Refusal read() {
    if (const Refusal refusal = check_file(); refusal.reason != nullptr) return refusal;
    if (const Refusal refusal = read_segments(); refusal.reason != nullptr) return refusal;
    read_needed();
    if (const Refusal refusal = read_sections(); refusal.reason != nullptr) return refusal;
    read_symbols();
    read_relocations();
    return check_read();
  }

 private:
  Refusal check_file() const {
    GElf_Ehdr header;
    if (gelf_getehdr(elf_, &header) == nullptr || gelf_getclass(elf_) != ELFCLASS64 ||
        header.e_machine != EM_X86_64) {
      return {"is not a program for x86-64", kOrBuilds};
    }
    if ((file_.status().st_mode & (S_ISUID | S_ISGID)) != 0 ||
        getxattr(file_.path().c_str(), "security.capability", nullptr, 0) > 0) {
      return {
          "runs with rights of its own (set-uid or capabilities), so that nothing is loaded into "
          "it",
          "compare a copy without them"};
    }
    return {};
  }

  Refusal read_segments() {
    std::size_t count = 0;
    if (elf_getphdrnum(elf_, &count) != 0) return {"has no segments", ""};
    out_.base = file_.base_address();
    bool is_dynamic = false;
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Phdr segment;
      if (gelf_getphdr(elf_, static_cast<int>(i), &segment) == nullptr) continue;
      is_dynamic = is_dynamic || segment.p_type == PT_INTERP;
      if (segment.p_type != PT_LOAD) continue;
      out_.image_size = std::max(out_.image_size, segment.p_vaddr + segment.p_memsz - out_.base);
      if ((segment.p_flags & (PF_W | PF_X)) == (PF_W | PF_X)) {
        return {"has code that it may change itself (a segment that is writable and executable)",
                "link it without such a segment (-z noexecstack, no -N)"};
      }
    }
    if (!is_dynamic) {
      return {"is linked statically, so that nothing can be loaded into it",
              "link it dynamically (without -static)"};
    }
    if (out_.image_size > kLargest) return {"is larger than 1 GB", kOrBuilds};
    return {};
  }

  void read_needed() {
    for_each_section(elf_, [&](Elf_Scn* section, const GElf_Shdr& header, std::string_view) {
      Elf_Data* const data =
          header.sh_type == SHT_DYNAMIC ? elf_getdata(section, nullptr) : nullptr;
      GElf_Dyn entry;
      for (int i = 0; data != nullptr && gelf_getdyn(data, i, &entry) != nullptr; ++i) {
        if (entry.d_tag != DT_NEEDED) continue;
        const char* name = elf_strptr(elf_, header.sh_link, entry.d_un.d_val);
        const std::string_view library = name == nullptr ? "" : name;
        has_shared_unwinder_ = has_shared_unwinder_ || library.starts_with("libgcc_s.so");
        has_other_unwinder_ = has_other_unwinder_ || library == "libunwind.so.1";
      }
    });
  }

  Refusal read_sections() {
    Refusal refusal;
    for_each_section(elf_, [&](Elf_Scn* section, const GElf_Shdr& header, std::string_view name) {
      if (has(kManagedSections, name)) refusal = {kRefersToItself, kOrBuilds};
      if ((header.sh_flags & SHF_ALLOC) == 0 || header.sh_size == 0) return;
      if (header.sh_type == SHT_NOBITS || (header.sh_flags & SHF_TLS) != 0) return;
      const Elf_Data* const data = elf_rawdata(section, nullptr);
      if (data == nullptr || data->d_buf == nullptr || header.sh_addr < out_.base) return;
      const std::span bytes(static_cast<const std::uint8_t*>(data->d_buf), data->d_size);
      const auto begin = static_cast<std::uint32_t>(header.sh_addr - out_.base);
      if (name == ".eh_frame") {
        const char* problem = read_frame_entries(bytes, begin, out_.frames);
        if (problem != nullptr) refusal = {problem, kOrBuilds};
        return;
      }
      if (holds_code(header) && has(kStubs, name)) return;
      const Content content = holds_code(header)                   ? Content::kText
                              : (header.sh_flags & SHF_WRITE) != 0 ? Content::kData
                                                                   : Content::kConstants;
      const Extent extent{begin, begin + static_cast<std::uint32_t>(bytes.size())};
      out_.sections.push_back({extent, content, bytes});
    });
    std::sort(out_.sections.begin(), out_.sections.end(),
              [](const auto& a, const auto& b) { return a.extent.begin < b.extent.begin; });
    return refusal;
  }

  void read_symbols() {
    const auto add = [&](const GElf_Sym& symbol, const char* name) {
      if (symbol.st_value < out_.base || symbol.st_value - out_.base >= out_.image_size) return;
      const auto begin = static_cast<std::uint32_t>(symbol.st_value - out_.base);
      const auto kind = GELF_ST_TYPE(symbol.st_info);
      is_managed_ = is_managed_ || has(kManagedSymbols, name);
      if (kind == STT_OBJECT) out_.objects.push_back(begin);
      if (kind != STT_FUNC && kind != STT_GNU_IFUNC) return;
      if (std::string_view(name) == "__register_frame") out_.register_frame = begin;
      // LLVM's libunwind, linked statically: its __register_frame takes something else.
      has_other_unwinder_ |= std::string_view(name) == "__unw_add_dynamic_fde";
      add_function({begin, begin + static_cast<std::uint32_t>(symbol.st_size)}, name);
    };
    for_each_symbol(elf_, SHT_SYMTAB, add);
    for_each_symbol(elf_, SHT_DYNSYM, add);
    for (const FrameEntry& entry : out_.frames.entries) add_function(entry.code, "");
  }

  void add_function(Extent extent, const char* name) {
    const CodeSection* const section = out_.section_of(extent.begin);
    if (section == nullptr || section->content != Content::kText) return;
    if (extent.end <= extent.begin || extent.end > section->extent.end) return;
    out_.functions.push_back({extent, name});
  }

  void read_relocations() {
    for_each_section(elf_, [&](Elf_Scn* section, const GElf_Shdr& header, std::string_view) {
      if ((header.sh_flags & SHF_ALLOC) == 0) return;
      if (header.sh_type == SHT_RELR) read_packed(section);
      if (header.sh_type != SHT_RELA || header.sh_entsize == 0) return;
      Elf_Data* const data = elf_getdata(section, nullptr);
      const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
      GElf_Rela entry;
      for (int i = 0; data != nullptr && i < count; ++i) {
        if (gelf_getrela(data, i, &entry) == nullptr) break;
        if (GELF_R_TYPE(entry.r_info) != R_X86_64_RELATIVE) continue;
        add_pointer(entry.r_offset, static_cast<std::uint64_t>(entry.r_addend));
      }
    });
  }

  // A word is an address, or bits for the 63 words behind the last address.
  void read_packed(Elf_Scn* section) {
    const Elf_Data* const data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return;
    std::uint64_t at = 0;
    for (std::size_t i = 0; i + 8 <= data->d_size; i += 8) {
      std::uint64_t word;
      std::memcpy(&word, static_cast<const char*>(data->d_buf) + i, sizeof word);
      if ((word & 1) == 0) {
        add_stored_pointer(word);
        at = word + 8;
        continue;
      }
      for (unsigned bit = 1; bit < 64; ++bit) {
        if ((word >> bit & 1) != 0) add_stored_pointer(at + 8 * (bit - 1));
      }
      at += 8 * 63;
    }
  }

  void add_stored_pointer(std::uint64_t at) {
    const auto bytes = out_.at(static_cast<std::int64_t>(at - out_.base));
    std::uint64_t target;
    if (bytes.size() < sizeof target) return;
    std::memcpy(&target, bytes.data(), sizeof target);
    add_pointer(at, target);
  }

  // Pointers to code; where pointers to data lead, something begins.
  void add_pointer(std::uint64_t at, std::uint64_t target) {
    if (at < out_.base || at - out_.base + 8 > out_.image_size) return;
    if (target < out_.base || target - out_.base >= out_.image_size) return;
    const auto to = static_cast<std::uint32_t>(target - out_.base);
    const CodeSection* const section = out_.section_of(to);
    if (section == nullptr || section->content != Content::kText) {
      out_.objects.push_back(to);
    } else {
      out_.pointers.push_back({static_cast<std::uint32_t>(at - out_.base), to});
    }
  }

  Refusal check_read() const {
    if (is_managed_) return {kRefersToItself, kOrBuilds};
    if (out_.functions.empty()) {
      return {"has neither symbols of functions nor an unwind table",
              "build it without -fno-asynchronous-unwind-tables, and strip it less"};
    }
    const auto& frames = out_.frames.entries;
    const bool catches = std::any_of(frames.begin(), frames.end(),
                                     [](const FrameEntry& entry) { return entry.has_handlers; });
    if (has_other_unwinder_) {
      return {"uses LLVM's libunwind, which cannot be told where functions have gone",
              "link it with libgcc_s"};
    }
    if (catches && !has_shared_unwinder_ && out_.register_frame == 0) {
      return {"has an unwinder of its own, which cannot be told where functions have gone",
              "link it with the shared libgcc_s, or do not strip it"};
    }
    return {};
  }

  const ElfFile& file_;
  Elf* elf_;
  ProgramCode& out_;
  bool has_shared_unwinder_ = false;
  bool has_other_unwinder_ = false;
  bool is_managed_ = false;
};

}  // namespace

Refusal read_program(const ElfFile& file, ProgramCode& out) { return Reader(file, out).read(); }

}  // namespace coz::linetable
