#include "linetable/accesses/object_names.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "linetable/accesses/stack_variables.h"
#include "linetable/symbols/demangle.h"

namespace coz::linetable {
namespace {

constexpr unsigned kMaxFrames = 64;
// DWARF's numbers for x86-64.
constexpr unsigned kFramePointer = 6;
constexpr unsigned kStackPointer = 7;

const Dwfl_Callbacks kCallbacks = {
    .find_elf = dwfl_linux_proc_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = nullptr,
    .debuginfo_path = nullptr,
};

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/') + 1);
}

// Libraries that allocate on behalf of others.
bool is_of_system(const char* module) {
  constexpr std::array<std::string_view, 5> kPrefixes = {"libc.so", "ld-linux", "libstdc++",
                                                         "libcoz", "libc-"};
  const std::string_view name = module == nullptr ? std::string_view() : file_name(module);
  for (const std::string_view prefix : kPrefixes) {
    if (name.substr(0, prefix.size()) == prefix) return true;
  }
  return name.empty();
}

const char* name_of(Dwfl_Module* module) {
  return dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
}

// Where the segments of a module end in memory.
std::uint64_t end_of(Dwfl_Module* module) {
  GElf_Addr bias = 0;
  Elf* elf = dwfl_module_getelf(module, &bias);
  std::size_t number = 0;
  std::uint64_t end = 0;
  if (elf == nullptr || elf_getphdrnum(elf, &number) != 0) return 0;
  for (std::size_t i = 0; i < number; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) != nullptr && segment.p_type == PT_LOAD)
      end = std::max(end, bias + segment.p_vaddr + segment.p_memsz);
  }
  return end;
}

struct Search {
  std::uint64_t address = 0;
  Dwfl_Module* found = nullptr;
};

int take_module(Dwfl_Module* module, void** /*data*/, const char* /*name*/, Dwarf_Addr begin,
                void* data) {
  auto& search = *static_cast<Search*>(data);
  if (search.address < begin || search.address >= end_of(module)) return DWARF_CB_OK;
  search.found = module;
  return DWARF_CB_ABORT;
}

// The module that an address is of; null if there is none. libdwfl takes a process's modules to end
// with their file's mappings, behind which most of .bss lies, and what lies behind the last one to
// be of it.
Dwfl_Module* module_at(Dwfl* dwfl, std::uint64_t address) {
  Dwfl_Module* module = dwfl_addrmodule(dwfl, address);
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  if (module != nullptr)
    dwfl_module_info(module, nullptr, &begin, &end, nullptr, nullptr, nullptr, nullptr);
  if (address >= begin && address < end) return module;
  Search search{.address = address};
  dwfl_getmodules(dwfl, take_module, &search, 0);
  return search.found;
}

std::string size_text(std::uint64_t bytes) {
  std::array<char, 32> text{};
  const auto number = static_cast<double>(bytes);
  if (bytes >= (1U << 20))
    std::snprintf(text.data(), text.size(), "%.3g MiB", number / (1 << 20));
  else
    std::snprintf(text.data(), text.size(), "%.3g KiB", number / (1 << 10));
  return text.data();
}

}  // namespace

ObjectNames::ObjectNames(pid_t process) : dwfl_(dwfl_begin(&kCallbacks)) {
  unsetenv("DEBUGINFOD_URLS");  // libdwfl would ask these servers; the process keeps its own
  if (!dwfl_ || dwfl_linux_proc_report(dwfl_.get(), process) != 0 ||
      dwfl_report_end(dwfl_.get(), nullptr, nullptr) != 0)
    return;
  // The process is stopped by us already.
  if (dwfl_linux_proc_attach(dwfl_.get(), process, true) < 0) return;
  static_cast<void>(dwfl_getthread_frames(dwfl_.get(), process, take_frame, &frames_));
}

int ObjectNames::take_frame(Dwfl_Frame* state, void* frames) {
  auto& found = *static_cast<std::vector<Frame>*>(frames);
  Frame frame;
  Dwarf_Addr pc = 0;
  bool is_exact = false;
  if (!dwfl_frame_pc(state, &pc, &is_exact)) return DWARF_CB_ABORT;
  frame.pc = is_exact ? pc : pc - 1;
  Dwarf_Word value = 0;
  if (dwfl_frame_reg(state, kStackPointer, &value) != 0) return DWARF_CB_ABORT;
  frame.stack = value;
  if (dwfl_frame_reg(state, kFramePointer, &value) == 0) frame.frame_pointer = value;
  found.push_back(frame);
  return found.size() < kMaxFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
}

Object ObjectNames::at(std::uint64_t address, const std::vector<Block>& blocks) const {
  Object found;
  if (!dwfl_ || find_static(address, found) || find_on_stack(address, found)) return found;
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    if (address >= block->begin && address - block->begin < block->size) {
      return {"block", size_text(block->size) + " from " + block->site, block->begin, block->size};
    }
  }
  found.name = "memory without a name";
  return found;
}

bool ObjectNames::find_static(std::uint64_t address, Object& out) const {
  Dwfl_Module* module = module_at(dwfl_.get(), address);
  if (module == nullptr) return false;
  GElf_Off offset = 0;
  GElf_Sym symbol{};
  const char* name =
      dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
  const std::string file(file_name(name_of(module)));
  if (name == nullptr || offset >= symbol.st_size) {
    out = {"static", "data of " + file, 0, 0};
    return true;
  }
  out = {"static", demangled(name), address - offset, symbol.st_size};
  return true;
}

bool ObjectNames::find_on_stack(std::uint64_t address, Object& out) const {
  // A frame reaches up to where its caller's stack pointer was, which is its canonical frame
  // address.
  for (std::size_t i = 0; i + 1 < frames_.size(); ++i) {
    const Frame& frame = frames_[i];
    const std::uint64_t end = frames_[i + 1].stack;
    // Leaf functions use 128 bytes below their stack pointer.
    if (address + (i == 0 ? 128 : 0) < frame.stack || address >= end) continue;
    out.kind = "stack";
    out.name = "a temporary of " + function_of(frame.pc);
    Dwarf_Addr bias = 0;
    Dwarf_Die* unit = dwfl_addrdie(dwfl_.get(), frame.pc, &bias);
    StackVariable variable;
    if (unit != nullptr &&
        find_stack_variable(unit, frame.pc - bias, {end, frame.frame_pointer}, address, variable)) {
      out.name = variable.name + " of " + function_of(frame.pc);
      out.begin = variable.begin;
      out.size = variable.size;
    }
    return true;
  }
  return false;
}

std::string ObjectNames::function_of(std::uint64_t pc) const {
  Dwfl_Module* module = dwfl_addrmodule(dwfl_.get(), pc);
  if (module == nullptr) return "code without a name";
  const char* name = dwfl_module_addrname(module, pc);
  return name != nullptr ? demangled(name) : std::string(file_name(name_of(module)));
}

std::string ObjectNames::line_of(std::uint64_t pc) const {
  Dwfl_Line* line = dwfl_ ? dwfl_getsrc(dwfl_.get(), pc) : nullptr;
  int number = 0;
  const char* file =
      line == nullptr ? nullptr : dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr);
  if (file == nullptr) return {};
  return std::string(file_name(file)) + ":" + std::to_string(number);
}

std::string ObjectNames::calling_line() const {
  for (const Frame& frame : frames_) {
    Dwfl_Module* module = dwfl_addrmodule(dwfl_.get(), frame.pc);
    if (module == nullptr || is_of_system(name_of(module))) continue;
    const std::string line = line_of(frame.pc);
    return function_of(frame.pc) + (line.empty() ? "" : " (" + line + ")");
  }
  return "an unknown place";
}

}  // namespace coz::linetable
