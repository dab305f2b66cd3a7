// What lies at an address of a stopped process: a static variable, one on the stack, a big block.
//
// By libdwfl, from symbols, debug information and unwind tables. The process must be stopped by
// ptrace, by this process. Not for several threads.
#ifndef LINETABLE_ACCESSES_OBJECT_NAMES_H
#define LINETABLE_ACCESSES_OBJECT_NAMES_H

#include <elfutils/libdwfl.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace coz::linetable {

// Memory that the process has asked the kernel for. `site`: which of its lines did.
struct Block {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  std::string site;
};

// kind: static, stack, block, heap, or other. begin, size: of the object; 0 if unknown. `name`: for
// people, such as `i` or `1.0 MiB of main (conv.c:20)`.
struct Object {
  std::string kind = "other";
  std::string name;
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
};

class ObjectNames {
 public:
  // As the process is now: what it loads later is unknown.
  explicit ObjectNames(pid_t process);

  // The object at `address`; `blocks` as they are now.
  [[nodiscard]] Object at(std::uint64_t address, const std::vector<Block>& blocks) const;

  // `file.c:12` of an instruction; empty if unknown.
  [[nodiscard]] std::string line_of(std::uint64_t pc) const;

  // The innermost line of the stack that is not in a library of the system, as `main (file.c:12)`.
  [[nodiscard]] std::string calling_line() const;

 private:
  struct End {
    void operator()(Dwfl* dwfl) const noexcept { dwfl_end(dwfl); }
  };
  // A frame: its instruction, its stack pointer, and its frame pointer.
  struct Frame {
    std::uint64_t pc = 0;
    std::uint64_t stack = 0;
    std::uint64_t frame_pointer = 0;
  };

  static int take_frame(Dwfl_Frame* state, void* frames);
  [[nodiscard]] bool find_static(std::uint64_t address, Object& out) const;
  [[nodiscard]] bool find_on_stack(std::uint64_t address, Object& out) const;
  [[nodiscard]] std::string function_of(std::uint64_t pc) const;

  std::unique_ptr<Dwfl, End> dwfl_;
  std::vector<Frame> frames_;
};

}  // namespace coz::linetable

#endif  // LINETABLE_ACCESSES_OBJECT_NAMES_H
