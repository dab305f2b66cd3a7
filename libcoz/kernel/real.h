// The real functions behind our wrappers: COZ_REAL(pthread_mutex_lock)(mutex).
//
// They are looked up by dlsym(RTLD_NEXT) at first use, so that wrappers work before our constructor
// has run, and other preloaded libraries keep their place in the chain. dlsym may allocate, and an
// allocator may lock a mutex: such a nested call gets libc's own entry. Any thread; after
// prepare(), which looks all of them up, also in signal handlers.
#ifndef LIBCOZ_KERNEL_REAL_H
#define LIBCOZ_KERNEL_REAL_H

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

// Programs that are compiled with _FORTIFY_SOURCE call these instead. They also take the size of
// the array, which libc checks. No header declares them.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier)
int __poll_chk(pollfd*, nfds_t, int, size_t);
int __ppoll_chk(pollfd*, nfds_t, const timespec*, const sigset_t*, size_t);
ssize_t __read_chk(int, void*, size_t, size_t);
ssize_t __pread_chk(int, void*, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void*, size_t, off64_t, size_t);
ssize_t __recv_chk(int, void*, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void*, size_t, size_t, int, sockaddr*, socklen_t*);
// NOLINTEND(bugprone-reserved-identifier)
}

// clang-format off
#define COZ_REAL_FUNCTIONS(X) \
  X(pthread_create) X(pthread_join) X(pthread_timedjoin_np) X(pthread_clockjoin_np) \
  X(thrd_create) X(thrd_join) \
  X(pthread_mutex_lock) X(pthread_mutex_trylock) X(pthread_mutex_unlock) \
  X(pthread_mutex_timedlock) X(pthread_mutex_clocklock) \
  X(mtx_lock) X(mtx_trylock) X(mtx_timedlock) X(mtx_unlock) \
  X(pthread_rwlock_rdlock) X(pthread_rwlock_tryrdlock) X(pthread_rwlock_timedrdlock) \
  X(pthread_rwlock_clockrdlock) X(pthread_rwlock_wrlock) X(pthread_rwlock_trywrlock) \
  X(pthread_rwlock_timedwrlock) X(pthread_rwlock_clockwrlock) X(pthread_rwlock_unlock) \
  X(pthread_spin_lock) X(pthread_spin_trylock) X(pthread_spin_unlock) X(sched_yield) \
  X(sem_wait) X(sem_trywait) X(sem_timedwait) X(sem_clockwait) X(sem_post) \
  X(pthread_cond_wait) X(pthread_cond_timedwait) X(pthread_cond_clockwait) \
  X(pthread_cond_signal) X(pthread_cond_broadcast) \
  X(cnd_wait) X(cnd_timedwait) X(cnd_signal) X(cnd_broadcast) \
  X(pthread_barrier_wait) \
  X(syscall) \
  X(nanosleep) X(clock_nanosleep) X(thrd_sleep) \
  X(poll) X(ppoll) X(select) X(pselect) X(epoll_wait) X(epoll_pwait) X(epoll_pwait2) \
  X(eventfd) X(pipe) X(pipe2) X(epoll_ctl) \
  X(__poll_chk) X(__ppoll_chk) X(__read_chk) X(__pread_chk) X(__pread64_chk) X(__recv_chk) X(__recvfrom_chk) \
  X(read) X(readv) X(recv) X(recvfrom) X(recvmsg) X(recvmmsg) X(accept) X(accept4) \
  X(listen) X(connect) \
  X(write) X(writev) X(pwrite) X(pwrite64) X(pread) X(pread64) \
  X(send) X(sendto) X(sendmsg) X(sendmmsg) X(shutdown) X(close) X(socketpair) X(fsync) X(fdatasync) \
  X(wait) X(waitpid) X(wait3) X(wait4) X(waitid) \
  X(pthread_kill) X(raise) X(kill) X(killpg) X(tgkill) X(sigqueue) X(pthread_sigqueue) \
  X(sigwait) X(sigwaitinfo) X(sigtimedwait) X(sigsuspend) X(sigpending) \
  X(sigaction) X(signal) X(__sysv_signal) X(signalfd) X(sigprocmask) X(pthread_sigmask) \
  X(pthread_attr_setsigmask_np) \
  X(execve) X(execv) X(execvp) X(execvpe) X(fexecve) X(execveat) \
  X(fork) X(forkpty) X(_exit)
// clang-format on

namespace coz::real {

enum Function : int {
#define COZ_NAME_FUNCTION(name) k_##name,
  COZ_REAL_FUNCTIONS(COZ_NAME_FUNCTION)
#undef COZ_NAME_FUNCTION
      kFunctions
};

extern std::atomic<void*> addresses[kFunctions];

void* look_up(Function function) noexcept;

inline void* find(Function function) noexcept {
  void* address = addresses[function].load(std::memory_order_relaxed);
  return __builtin_expect(address != nullptr, 1) ? address : look_up(function);
}

// Looks all of them up.
void prepare() noexcept;

// Where syscall() passes calls that it does not handle (interpose/futex.cpp).
void pass_other_syscalls_to(void* address) noexcept;

}  // namespace coz::real

#define COZ_REAL(name) (reinterpret_cast<decltype(&::name)>(coz::real::find(coz::real::k_##name)))

#endif  // LIBCOZ_KERNEL_REAL_H
