// Calls that a signal handler ends early, while signals that look like samples arrive all the time:
// each line printed says that one call waited in full and did not fail with EINTR.
//
// Argument: the number of the signal that carries samples; it is sent to the main thread every
// millisecond, as the profiler's timer would.
#include <coz.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;
constexpr long kWait = 60'000'000;  // ns

timespec in(long nanoseconds) { return {0, nanoseconds}; }

timespec at(clockid_t clock, long nanoseconds) {
  timespec time;
  clock_gettime(clock, &time);
  time.tv_nsec += nanoseconds;
  time.tv_sec += time.tv_nsec / 1'000'000'000;
  time.tv_nsec %= 1'000'000'000;
  return time;
}

// Says whether `call` holds and took all of the time.
template <typename Call>
void check(const char* name, Call call) {
  errno = 0;
  const auto start = Clock::now();
  const bool holds = call();
  const int error = errno;
  const long waited = std::chrono::nanoseconds(Clock::now() - start).count();
  const bool whole = waited >= kWait - 1'000'000;
  std::printf("%s: %s", name, holds && whole ? "yes" : "NO");
  if (!holds || !whole) std::printf(" (%ld ns, errno %d)", waited, error);
  std::printf("\n");
}

void sleeps() {
  const timespec duration = in(kWait);
  check("usleep", [] { return usleep(kWait / 1000) == 0; });
  check("nanosleep", [&] { return nanosleep(&duration, nullptr) == 0; });
  check("clock_nanosleep",
        [&] { return clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, nullptr) == 0; });
  check("clock_nanosleep to a time", [] {
    const timespec end = at(CLOCK_MONOTONIC, kWait);
    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr) == 0;
  });
  check("thrd_sleep", [&] { return thrd_sleep(&duration, nullptr) == 0; });
  check("sleep", [] { return sleep(1) == 0; });
}

void polls() {
  const timespec duration = in(kWait);
  check("poll", [] { return poll(nullptr, 0, kWait / 1'000'000) == 0; });
  check("ppoll", [&] { return ppoll(nullptr, 0, &duration, nullptr) == 0; });
  check("select", [] {
    timeval time = {0, kWait / 1000};
    return select(0, nullptr, nullptr, nullptr, &time) == 0;
  });
  check("pselect", [&] { return pselect(0, nullptr, nullptr, nullptr, &duration, nullptr) == 0; });
  const int epoll = epoll_create1(0);
  epoll_event event;
  check("epoll_wait", [&] { return epoll_wait(epoll, &event, 1, kWait / 1'000'000) == 0; });
  check("epoll_pwait",
        [&] { return epoll_pwait(epoll, &event, 1, kWait / 1'000'000, nullptr) == 0; });
  check("epoll_pwait2", [&] { return epoll_pwait2(epoll, &event, 1, &duration, nullptr) == 0; });
  close(epoll);
}

void sockets() {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return;
  const timeval limit = {0, kWait / 1000};
  setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  char byte;
  check("recv with a time-out",
        [&] { return recv(pair[0], &byte, 1, 0) == -1 && errno == EAGAIN; });
  check("recvfrom with a time-out",
        [&] { return recvfrom(pair[0], &byte, 1, 0, nullptr, nullptr) == -1 && errno == EAGAIN; });
  check("read and late input", [&] {
    std::thread writer([&] {
      std::this_thread::sleep_for(std::chrono::nanoseconds(kWait));
      if (write(pair[1], "x", 1) != 1) abort();
    });
    int pipe_ends[2];
    if (pipe(pipe_ends) != 0) abort();
    const bool got = recv(pair[0], &byte, 1, MSG_DONTWAIT) == -1;
    pollfd input = {pair[0], POLLIN, 0};
    const bool ready = poll(&input, 1, -1) == 1 && read(pair[0], &byte, 1) == 1;
    writer.join();
    return got && ready && byte == 'x';
  });
}

void locks() {
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  check("sem_timedwait", [&] {
    const timespec end = at(CLOCK_REALTIME, kWait);
    return sem_timedwait(&semaphore, &end) == -1 && errno == ETIMEDOUT;
  });
  check("sem_clockwait", [&] {
    const timespec end = at(CLOCK_MONOTONIC, kWait);
    return sem_clockwait(&semaphore, CLOCK_MONOTONIC, &end) == -1 && errno == ETIMEDOUT;
  });
  check("sem_wait", [&] {
    std::thread poster([&] {
      std::this_thread::sleep_for(std::chrono::nanoseconds(kWait));
      sem_post(&semaphore);
    });
    const bool got = sem_wait(&semaphore) == 0;
    poster.join();
    return got;
  });
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  check("pthread_mutex_timedlock", [&] {
    const timespec end = at(CLOCK_REALTIME, kWait);
    return pthread_mutex_timedlock(&mutex, &end) == ETIMEDOUT;
  });
  check("pthread_mutex_clocklock", [&] {
    const timespec end = at(CLOCK_MONOTONIC, kWait);
    return pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &end) == ETIMEDOUT;
  });
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  check("pthread_cond_timedwait", [&] {
    const timespec end = at(CLOCK_REALTIME, kWait);
    int result;
    while ((result = pthread_cond_timedwait(&condition, &mutex, &end)) == 0) {
    }
    return result == ETIMEDOUT;
  });
  pthread_mutex_unlock(&mutex);
  mtx_t plain;
  cnd_t signalled;
  mtx_init(&plain, mtx_timed);
  cnd_init(&signalled);
  mtx_lock(&plain);
  check("mtx_timedlock", [&] {
    const timespec end = at(CLOCK_REALTIME, kWait);
    return mtx_timedlock(&plain, &end) == thrd_timedout;
  });
  check("cnd_timedwait", [&] {
    const timespec end = at(CLOCK_REALTIME, kWait);
    int result;
    while ((result = cnd_timedwait(&signalled, &plain, &end)) == thrd_success) {
    }
    return result == thrd_timedout;
  });
  mtx_unlock(&plain);
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_rwlock_rdlock(&lock);
  check("pthread_rwlock_timedwrlock", [&] {
    const timespec end = at(CLOCK_REALTIME, kWait);
    return pthread_rwlock_timedwrlock(&lock, &end) == ETIMEDOUT;
  });
  pthread_rwlock_unlock(&lock);
  pthread_rwlock_wrlock(&lock);
  std::thread([&] {  // one's own write lock would be EDEADLK
    check("pthread_rwlock_clockrdlock", [&] {
      const timespec end = at(CLOCK_MONOTONIC, kWait);
      return pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &end) == ETIMEDOUT;
    });
  })
      .join();
  pthread_rwlock_unlock(&lock);
}

void futexes() {
  std::uint32_t word = 7;
  const timespec duration = in(kWait);
  check("futex wait", [&] {
    return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 7, &duration, nullptr, 0) == -1 &&
           errno == ETIMEDOUT;
  });
  check("futex wait to a time", [&] {
    const timespec end = at(CLOCK_MONOTONIC, kWait);
    return syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 7, &end, nullptr, 0xffffffffU) ==
               -1 &&
           errno == ETIMEDOUT;
  });
}

void others() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const timespec duration = in(kWait);
  check("sigtimedwait",
        [&] { return sigtimedwait(&set, nullptr, &duration) == -1 && errno == EAGAIN; });
  check("waitpid", [] {
    const pid_t child = fork();
    if (child == 0) {
      usleep(kWait / 1000);
      _exit(9);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 9;
  });
  std::atomic<bool> end{false};
  std::thread sleeper([&] {
    while (!end) usleep(1000);
  });
  check("pthread_timedjoin_np", [&] {
    const timespec limit = at(CLOCK_REALTIME, kWait);
    return pthread_timedjoin_np(sleeper.native_handle(), nullptr, &limit) == ETIMEDOUT;
  });
  check("pthread_clockjoin_np", [&] {
    const timespec limit = at(CLOCK_MONOTONIC, kWait);
    return pthread_clockjoin_np(sleeper.native_handle(), nullptr, CLOCK_MONOTONIC, &limit) ==
           ETIMEDOUT;
  });
  end = true;
  sleeper.join();
}

}  // namespace

int main(int, char** arguments) {
  const int sample = std::atoi(arguments[1]);
  const long process = getpid();
  const long main_thread = syscall(SYS_gettid);
  siginfo_t tick = {};  // libcoz/sampling/sample_source.h
  tick.si_code = SI_TIMER;
  tick.si_value.sival_ptr = reinterpret_cast<void*>(0x6b636974'7a6f6320);
  std::atomic<bool> end{false};
  std::atomic<long> sent{0};
  std::thread disturber([&] {
    while (!end) {
      if (sample != 0) {
        sent += syscall(SYS_rt_tgsigqueueinfo, process, main_thread, sample, &tick) == 0;
      }
      usleep(1000);
    }
  });
  COZ_PROGRESS;
  sleeps();
  polls();
  sockets();
  locks();
  futexes();
  others();
  end = true;
  disturber.join();
  std::printf("disturbed often: %s\n", sample == 0 || sent > 500 ? "yes" : "NO");
  return 0;
}
