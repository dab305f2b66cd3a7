// The OpenMP library that a part of the program calls: the real functions behind our wrappers.
//
// Most programs have one, which dlsym(RTLD_NEXT) finds. But a plugin may load one for itself alone
// (RTLD_LOCAL), and a process may have several copies: then a caller gets the one that its own
// object is bound to, as without us. A library need not have all functions: one that clang's code
// calls may serve one object, GCC's another.
//
// Each library is looked up as a whole, when a function is called first that no known one has. As a
// rule the thread begins a parallel region then or is in none: others may wait for it with the
// loader's lock held. It then stays loaded. In threads of the program, not in signal handlers: the
// look-up allocates.
#ifndef LIBCOZ_KERNEL_OPENMP_LIBRARY_H
#define LIBCOZ_KERNEL_OPENMP_LIBRARY_H

#include <array>
#include <cstddef>
#include <cstdint>

// clang-format off
#define COZ_OPENMP_FUNCTIONS(X) \
  X(GOMP_parallel) X(GOMP_parallel_reductions) X(GOMP_parallel_sections) \
  X(GOMP_parallel_loop_static) X(GOMP_parallel_loop_dynamic) X(GOMP_parallel_loop_guided) \
  X(GOMP_parallel_loop_nonmonotonic_dynamic) X(GOMP_parallel_loop_nonmonotonic_guided) \
  X(GOMP_parallel_loop_runtime) X(GOMP_parallel_loop_nonmonotonic_runtime) \
  X(GOMP_parallel_loop_maybe_nonmonotonic_runtime) \
  X(GOMP_barrier) X(GOMP_barrier_cancel) X(GOMP_loop_end) X(GOMP_loop_end_cancel) \
  X(GOMP_sections_end) X(GOMP_sections_end_cancel) \
  X(GOMP_critical_start) X(GOMP_critical_end) \
  X(GOMP_critical_name_start) X(GOMP_critical_name_end) \
  X(GOMP_task) X(GOMP_taskloop) X(GOMP_taskloop_ull) \
  X(GOMP_taskwait) X(GOMP_taskwait_depend) X(GOMP_taskgroup_end) \
  X(__kmpc_critical) X(__kmpc_critical_with_hint) X(__kmpc_end_critical) \
  X(omp_set_lock) X(omp_unset_lock) X(omp_set_lock_) X(omp_unset_lock_)
// clang-format on

namespace coz {

class OpenMpLibrary {
 public:
  enum Function : std::size_t {
#define COZ_NAME_FUNCTION(name) k_##name,
    COZ_OPENMP_FUNCTIONS(COZ_NAME_FUNCTION)
#undef COZ_NAME_FUNCTION
        kFunctions
  };

  // Of the code at this address, which calls that function. Ends the process if there is none,
  // since nobody can call it then.
  static const OpenMpLibrary& of(const void* caller, Function function) noexcept;

  // Does it also serve callers of LLVM's interface, who run their shares without our wrappers?
  bool has_other_callers() const noexcept { return has_other_callers_; }
  void* address(Function function) const noexcept { return addresses_[function]; }

 private:
  static const OpenMpLibrary* find(std::uintptr_t caller, Function function) noexcept;
  static const OpenMpLibrary& add(const OpenMpLibrary& found) noexcept;
  bool look_up(void* handle, Function function) noexcept;
  bool look_up_for(std::uintptr_t caller, Function function) noexcept;
  void take_addresses(void* handle) noexcept;
  void leave_out_global() noexcept;

  // Of the object that calls it; all addresses for one that is for everybody.
  std::uintptr_t begin_ = 0;
  std::uintptr_t end_ = 0;
  std::array<void*, kFunctions> addresses_{};
  bool has_other_callers_ = false;
};

// The library that a wrapper's caller is bound to, by the function that it calls; and its function
// of that name.
#define COZ_LIBRARY(name) \
  coz::OpenMpLibrary::of(__builtin_return_address(0), coz::OpenMpLibrary::k_##name)
#define COZ_OPENMP(library, name) \
  (reinterpret_cast<decltype(&::name)>((library).address(coz::OpenMpLibrary::k_##name)))

// `ompt_start_tool` of the program itself, or of its library; nullptr if there is none.
void* next_openmp_tool() noexcept;

}  // namespace coz

#endif  // LIBCOZ_KERNEL_OPENMP_LIBRARY_H
