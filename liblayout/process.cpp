#include "liblayout/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

#include "common/raw_syscall.h"

namespace coz::layout {
namespace {

constexpr std::uintptr_t kPage = 4096;
constexpr int kStatusGaveUp = 125;
#ifndef MADV_POPULATE_WRITE
constexpr int MADV_POPULATE_WRITE = 23;  // Linux 5.14
#endif

// As unprotect_program() found it.
dl_phdr_info program{};

struct Pages {
  std::uintptr_t begin;
  std::uintptr_t end;

  [[nodiscard]] void* address() const noexcept { return reinterpret_cast<void*>(begin); }
  [[nodiscard]] std::size_t size() const noexcept { return end - begin; }
};

Pages pages_of(std::uintptr_t begin, std::size_t size) noexcept {
  return {begin / kPage * kPage, (begin + size + kPage - 1) / kPage * kPage};
}

// Calls visit(const dl_phdr_info&) for the program, the first of the loader's list.
template <typename Visit>
bool visit_program(Visit visit) noexcept {
  return dl_iterate_phdr([](dl_phdr_info* info, std::size_t,
                            void* data) { return (*static_cast<Visit*>(data))(*info) ? 1 : 2; },
                         &visit) == 1;
}

int protection_of(const ElfW(Phdr) & segment) noexcept {
  return ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) |
         ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
         ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
}

// Sets the protection of what is written by the loader only: code, constants, relocated data.
// While `writable`, code is not executable.
bool set_protections(const dl_phdr_info& info, bool writable) noexcept {
  constexpr int kWritable = PROT_READ | PROT_WRITE;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const auto& segment = info.dlpi_phdr[i];
    const bool is_constant = segment.p_type == PT_LOAD && (segment.p_flags & PF_W) == 0;
    if (!is_constant && segment.p_type != PT_GNU_RELRO) continue;
    Pages pages = pages_of(info.dlpi_addr + segment.p_vaddr, segment.p_memsz);
    // The loader leaves a last page writable that is relocated data only in part.
    if (!is_constant) {
      pages.end = (info.dlpi_addr + segment.p_vaddr + segment.p_memsz) / kPage * kPage;
    }
    if (pages.size() == 0 || pages.begin >= pages.end) continue;
    const int protection = is_constant ? protection_of(segment) : PROT_READ;
    // Raw calls: a program may define mprotect itself, in code that cannot be executed now.
    const auto address = static_cast<long>(pages.begin);
    const auto size = static_cast<long>(pages.size());
    if (raw_syscall(SYS_mprotect, address, size, writable ? kWritable : protection) != 0) {
      return false;
    }
    // Nearly every page of code will be written: all at once is cheaper. Older kernels refuse.
    if (writable && (protection & PROT_EXEC) != 0) {
      raw_syscall(SYS_madvise, address, size, MADV_POPULATE_WRITE);
    }
  }
  return true;
}

}  // namespace

std::uint8_t* program_image() noexcept {
  std::uintptr_t lowest = UINTPTR_MAX;
  visit_program([&](const dl_phdr_info& info) {
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const auto& segment = info.dlpi_phdr[i];
      if (segment.p_type == PT_LOAD && info.dlpi_addr + segment.p_vaddr < lowest) {
        lowest = info.dlpi_addr + segment.p_vaddr;
      }
    }
    return true;
  });
  return lowest == UINTPTR_MAX ? nullptr : reinterpret_cast<std::uint8_t*>(lowest);
}

FileIdentity executed_file() noexcept {
  struct stat status;
  if (stat("/proc/self/exe", &status) != 0) return {};
  return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
          status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

bool has_one_thread() noexcept {
  // The folder has an entry for each thread besides "." and "..", which count as links.
  struct stat status;
  return stat("/proc/self/task", &status) == 0 && status.st_nlink == 3;
}

int own_process() noexcept { return static_cast<int>(getpid()); }

std::span<const std::byte> map_file(const char* path) noexcept {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  struct stat status;
  void* memory = MAP_FAILED;
  if (fstat(file, &status) == 0 && status.st_size > 0) {
    memory = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ,
                  MAP_PRIVATE | MAP_POPULATE, file, 0);
  }
  close(file);
  if (memory == MAP_FAILED) return {};
  return {static_cast<const std::byte*>(memory), static_cast<std::size_t>(status.st_size)};
}

void unmap(std::span<const std::byte> bytes) noexcept {
  munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
}

void* map_memory(std::uint64_t address, std::size_t size) noexcept {
  const int where = address == 0 ? 0 : MAP_FIXED_NOREPLACE;
  void* const wanted = reinterpret_cast<void*>(address);
  void* const memory =
      mmap(wanted, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | where, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (address != 0 && memory != wanted) {  // before Linux 4.17 the flag is unknown
    munmap(memory, size);
    return nullptr;
  }
  madvise(memory, size, MADV_NOHUGEPAGE);
  madvise(memory, size, MADV_POPULATE_WRITE);
  return memory;
}

bool make_executable(std::uint8_t* begin, std::size_t size) noexcept {
  const Pages pages = pages_of(reinterpret_cast<std::uintptr_t>(begin), size);
  return mprotect(pages.address(), pages.size(), PROT_READ | PROT_EXEC) == 0;
}

// The program may define dl_iterate_phdr itself, in code that cannot be executed meanwhile.
bool unprotect_program() noexcept {
  const bool is_found = visit_program([](const dl_phdr_info& info) {
    program = info;
    return true;
  });
  return is_found && set_protections(program, true);
}

bool protect_program() noexcept { return set_protections(program, false); }

bool make_writable(std::uint8_t* at, std::size_t size) noexcept {
  const Pages pages = pages_of(reinterpret_cast<std::uintptr_t>(at), size);
  return mprotect(pages.address(), pages.size(), PROT_READ | PROT_WRITE) == 0;
}

bool lies_in_code(const std::uint8_t* at) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  return visit_program([address](const dl_phdr_info& info) {
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const auto& segment = info.dlpi_phdr[i];
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
      if (address - (info.dlpi_addr + segment.p_vaddr) < segment.p_memsz) return true;
    }
    return false;
  });
}

bool register_frames(std::uint8_t* table, void (*own)(void*)) noexcept {
  using Register = void (*)(void*);
  // A program in C may load the unwinder later, for backtrace() or pthread_cancel().
  void* library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr && own == nullptr) library = dlopen("libgcc_s.so.1", RTLD_NOW);
  const auto shared =
      library == nullptr ? nullptr : reinterpret_cast<Register>(dlsym(library, "__register_frame"));
  if (shared != nullptr) shared(table);
  if (own != nullptr && own != shared) own(table);
  return shared != nullptr || own != nullptr;
}

std::uint64_t nanoseconds(clockid_t clock) noexcept {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

void append_line(const char* path, const char* line) noexcept {
  const int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = write(file, line, std::strlen(line));
  close(file);
}

void give_up(const char* reason) noexcept {
  const char* const parts[] = {
      "coz-layout: the functions of this program cannot be moved: ", reason, "\n"};
  for (const char* part : parts) {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, part, std::strlen(part));
  }
  _exit(kStatusGaveUp);
}

bool start_thread(int (*run)(void*), void* data, std::byte* stack_end) noexcept {
  constexpr int kThread =
      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  std::uint64_t all = ~std::uint64_t{0};
  std::uint64_t before = 0;
  // libc's own function would leave out the signals that libc uses itself.
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all),
              reinterpret_cast<long>(&before), sizeof all);
  const int thread = clone(run, stack_end, kThread, data);
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&before), 0, sizeof before);
  return thread > 0;
}

bool sleep_for(std::uint64_t nanoseconds) noexcept {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const timespec time{static_cast<time_t>(nanoseconds / kSecond),
                      static_cast<long>(nanoseconds % kSecond)};
  // As libc sleeps: a program that filters system calls is likelier to allow it.
  const long result =
      raw_syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, reinterpret_cast<long>(&time), 0);
  return result == 0 || result == -EINTR;
}

void end_thread() noexcept {
  for (;;) raw_syscall(SYS_exit, 0);
}

}  // namespace coz::layout
