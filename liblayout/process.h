// What moving functions takes of the process: its program in memory, room near it, protections.
//
// Only these functions call the kernel. All but the last three are for the constructor, while the
// process has one thread.
#ifndef LIBLAYOUT_PROCESS_H
#define LIBLAYOUT_PROCESS_H

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/layout_plan_format.h"

namespace coz::layout {

// Where the program's lowest address is loaded; nullptr if the loader does not tell.
[[nodiscard]] std::uint8_t* program_image() noexcept;

// Of the file that this process executes. All zero if that is not known.
[[nodiscard]] FileIdentity executed_file() noexcept;

[[nodiscard]] bool has_one_thread() noexcept;
[[nodiscard]] int own_process() noexcept;

// The whole of a file; empty if it cannot be read.
[[nodiscard]] std::span<const std::byte> map_file(const char* path) noexcept;
void unmap(std::span<const std::byte> bytes) noexcept;

// Zeroed memory, at `address` or anywhere (0); nullptr if there is none. It has small pages, as the
// program's own code has.
[[nodiscard]] void* map_memory(std::uint64_t address, std::size_t size) noexcept;

// Makes whole pages around these bytes executable, and no longer writable.
[[nodiscard]] bool make_executable(std::uint8_t* begin, std::size_t size) noexcept;

// Makes all of the program writable, or as it was.
[[nodiscard]] bool unprotect_program() noexcept;
[[nodiscard]] bool protect_program() noexcept;

// Makes the page of this byte, and of the next `size`, writable data.
[[nodiscard]] bool make_writable(std::uint8_t* at, std::size_t size) noexcept;

// Is this byte in a part of the program that is executable?
[[nodiscard]] bool lies_in_code(const std::uint8_t* at) noexcept;

// Tells unwinders of the table, by the program's own function too, if it has one.
[[nodiscard]] bool register_frames(std::uint8_t* table, void (*own)(void*)) noexcept;

[[nodiscard]] std::uint64_t nanoseconds(clockid_t clock) noexcept;

// Appends a line to a file.
void append_line(const char* path, const char* line) noexcept;

// Says why on standard error, and ends the process: what runs on would not have the layout that it
// is taken to have.
[[noreturn]] void give_up(const char* reason) noexcept;

// Starts a thread that libc does not know, so that libc goes on without locks where the program has
// one thread. It has all signals blocked, and the thread-local data of the thread that starts it:
// so it must not call libc. `run` never returns; `stack_end` is where its stack begins, downwards.
[[nodiscard]] bool start_thread(int (*run)(void*), void* data, std::byte* stack_end) noexcept;

// For such a thread. Returns false if the kernel refuses, as where the program filters system
// calls.
[[nodiscard]] bool sleep_for(std::uint64_t nanoseconds) noexcept;
[[noreturn]] void end_thread() noexcept;

}  // namespace coz::layout

#endif  // LIBLAYOUT_PROCESS_H
