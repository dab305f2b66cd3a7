// Two threads, one of which always waits for the other: main computes in the marked line, the other
// thread is woken at its end by the means that the argument names. Whatever delays main causes in
// the line, the other has waited through, so it need never pause.
//
// Prints how often a round it gave up the processor in waiting more than the once that waiting
// needs; where it spins ("spin-lock", "yield"), how often it was held up in what it did next.
#include <coz.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "loopback.h"

namespace {

constexpr int kRounds = 400;

__attribute__((noinline)) void compute() {
  for (long i = 0; i < 8'000'000; ++i) asm volatile("" : "+r"(i));
}

timespec far(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  time.tv_sec += 60;
  return time;
}

long given_up() {
  rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

// `take` before the other may start, `give` when main has computed; `wait` is the other's.
struct Means {
  const char* name;
  void (*take)();
  void (*give)();
  void (*wait)();

  bool is_spinning() const {
    return std::strcmp(name, "spin-lock") == 0 || std::strcmp(name, "yield") == 0;
  }
};

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
pthread_barrier_t barrier;
pthread_spinlock_t spin_lock;
mtx_t c11_mutex;
cnd_t c11_condition;
sem_t semaphore;
std::atomic<int> word{0};
bool ready = false;
pthread_t other;
int signals = -1;  // a signalfd
pthread_t child;
int event = -1;  // an eventfd
int epoll = -1;  // which watches it, or the pipe

int ends[2] = {-1, -1};  // of a pipe, of a pair of sockets, or of a connection

void watch(int file) {
  epoll = epoll_create1(EPOLL_CLOEXEC);
  epoll_event wanted = {EPOLLIN, {}};
  epoll_ctl(epoll, EPOLL_CTL_ADD, file, &wanted);
}
void wait_at_epoll() {
  epoll_event found;
  epoll_wait(epoll, &found, 1, -1);
}

void make_event() {
  if (event >= 0) return;
  event = eventfd(0, EFD_CLOEXEC);
  watch(event);
}
void write_event() {
  const std::uint64_t one = 1;
  if (write(event, &one, sizeof one) != sizeof one) abort();
}
void read_event() {
  std::uint64_t count;
  if (read(event, &count, sizeof count) != sizeof count) abort();
}

void make_pipe() {
  if (ends[0] >= 0) return;
  if (pipe(ends) != 0) abort();
  watch(ends[0]);
}
void write_pipe() {
  if (write(ends[1], "x", 1) != 1) abort();
}
void read_pipe() {
  char byte;
  if (read(ends[0], &byte, 1) != 1) abort();
}

template <int family, bool named = false>
void make_connection() {
  if (ends[0] >= 0) return;
  ends[1] = loopback_of(family).connect_to(named);
  ends[0] = loopback_of(family).accept_one();
  watch(ends[0]);
}
template <int family>
constexpr Means by_accepting(const char* name) {
  return {name, [] { close(ends[1]); }, [] { ends[1] = loopback_of(family).connect_to(); },
          [] { close(loopback_of(family).accept_one()); }};
}
void send_byte() {
  if (send(ends[1], "x", 1, 0) != 1) abort();
}
void receive_byte() {
  char byte;
  if (recv(ends[0], &byte, 1, 0) != 1) abort();
}

void nothing() {}
void lock() { pthread_mutex_lock(&mutex); }
void unlock() { pthread_mutex_unlock(&mutex); }
void lock_for_writing() { pthread_rwlock_wrlock(&rwlock); }
void unlock_rwlock() { pthread_rwlock_unlock(&rwlock); }

void* compute_in_child(void*) {
  compute();
  return nullptr;
}

const Means kMeans[] = {
    {"mutex", lock, unlock, [] { lock(), unlock(); }},
    {"timedlock", lock, unlock,
     [] {
       const timespec end = far(CLOCK_REALTIME);
       pthread_mutex_timedlock(&mutex, &end);
       unlock();
     }},
    {"clocklock", lock, unlock,
     [] {
       const timespec end = far(CLOCK_MONOTONIC);
       pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &end);
       unlock();
     }},
    {"c11-mutex", [] { mtx_lock(&c11_mutex); }, [] { mtx_unlock(&c11_mutex); },
     [] { mtx_lock(&c11_mutex), mtx_unlock(&c11_mutex); }},
    {"rwlock", lock_for_writing, unlock_rwlock,
     [] { pthread_rwlock_rdlock(&rwlock), unlock_rwlock(); }},
    {"rwlock-writers", lock_for_writing, unlock_rwlock,
     [] { lock_for_writing(), unlock_rwlock(); }},
    {"rwlock-timed", lock_for_writing, unlock_rwlock,
     [] {
       const timespec end = far(CLOCK_REALTIME);
       pthread_rwlock_timedrdlock(&rwlock, &end);
       unlock_rwlock();
     }},
    {"condition", nothing,
     [] {
       lock();
       ready = true;
       unlock();
       pthread_cond_signal(&condition);
     },
     [] {
       lock();
       while (!ready) pthread_cond_wait(&condition, &mutex);
       ready = false;
       unlock();
     }},
    {"c11-condition", nothing,
     [] {
       mtx_lock(&c11_mutex);
       ready = true;
       mtx_unlock(&c11_mutex);
       cnd_broadcast(&c11_condition);
     },
     [] {
       mtx_lock(&c11_mutex);
       while (!ready) cnd_wait(&c11_condition, &c11_mutex);
       ready = false;
       mtx_unlock(&c11_mutex);
     }},
    {"semaphore", nothing, [] { sem_post(&semaphore); }, [] { sem_wait(&semaphore); }},
    {"semaphore-timed", nothing, [] { sem_post(&semaphore); },
     [] {
       const timespec end = far(CLOCK_MONOTONIC);
       sem_clockwait(&semaphore, CLOCK_MONOTONIC, &end);
     }},
    {"barrier", nothing, [] { pthread_barrier_wait(&barrier); },
     [] { pthread_barrier_wait(&barrier); }},
    {"atomic-wait", [] { word = 0; },
     [] {
       word = 1;
       word.notify_one();
     },
     [] { word.wait(0); }},
    {"spin-lock", [] { pthread_spin_lock(&spin_lock); }, [] { pthread_spin_unlock(&spin_lock); },
     [] { pthread_spin_lock(&spin_lock); }},
    {"yield", [] { word = 1; }, [] { word = 0; },
     [] {
       while (word == 1) sched_yield();
     }},
    {"signal", nothing, [] { pthread_kill(other, SIGUSR1); },
     [] {
       sigset_t set;
       sigemptyset(&set);
       sigaddset(&set, SIGUSR1);
       int signal;
       sigwait(&set, &signal);
     }},
    {"sigsuspend", [] { signal(SIGUSR1, [](int) {}); }, [] { pthread_kill(other, SIGUSR1); },
     [] {
       sigset_t none;
       sigemptyset(&none);
       sigsuspend(&none);
     }},
    // A handler ends a wait for something outside.
    {"ppoll-interrupted", [] { signal(SIGUSR1, [](int) {}); }, [] { pthread_kill(other, SIGUSR1); },
     [] {
       sigset_t none;
       sigemptyset(&none);
       ppoll(nullptr, 0, nullptr, &none);
     }},
    {"eventfd", make_event, write_event, read_event},
    {"eventfd-functions", make_event, [] { eventfd_write(event, 1); },
     [] {
       eventfd_t count;
       if (eventfd_read(event, &count) != 0) abort();
     }},
    {"eventfd-poll", make_event, write_event,
     [] {
       pollfd input = {event, POLLIN, 0};
       poll(&input, 1, -1);
       read_event();
     }},
    {"eventfd-epoll", make_event, write_event,
     [] {
       wait_at_epoll();
       read_event();
     }},
    {"pipe", make_pipe, write_pipe, read_pipe},
    {"pipe-select", make_pipe, write_pipe,
     [] {
       fd_set input;
       FD_ZERO(&input);
       FD_SET(ends[0], &input);
       select(ends[0] + 1, &input, nullptr, nullptr, nullptr);
       read_pipe();
     }},
    {"pipe-epoll", make_pipe, write_pipe,
     [] {
       wait_at_epoll();
       read_pipe();
     }},
    {"socketpair",
     [] {
       if (ends[0] < 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) abort();
     },
     send_byte, receive_byte},
    {"tcp", make_connection<AF_INET>, send_byte, receive_byte},
    {"tcp-epoll", make_connection<AF_INET>, send_byte,
     [] {
       wait_at_epoll();
       receive_byte();
     }},
    by_accepting<AF_INET>("tcp-accept"),
    {"unix", make_connection<AF_UNIX>, send_byte, receive_byte},
    {"unix-named", make_connection<AF_UNIX, true>, send_byte, receive_byte},
    by_accepting<AF_UNIX>("unix-accept"),
    {"signalfd",
     [] {
       sigset_t set;
       sigemptyset(&set);
       sigaddset(&set, SIGUSR1);
       if (signals < 0) signals = signalfd(-1, &set, SFD_CLOEXEC);
     },
     [] { pthread_kill(other, SIGUSR1); },
     [] {
       pollfd input = {signals, POLLIN, 0};
       poll(&input, 1, -1);
       signalfd_siginfo info;
       if (read(signals, &info, sizeof info) != sizeof info) abort();
     }},
};

sem_t begun;
sem_t done;
std::atomic<long> pauses{0};
std::atomic<long> given_at{0};  // nanoseconds

long monotonic() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000L + time.tv_nsec;
}

// `wait` may have found what it waited for, or have been woken in vain.
template <typename Wait>
void count_pauses(Wait wait) {
  const long before = given_up();
  wait();
  const long times = given_up() - before;
  if (times > 1) pauses += times - 1;
}

// Signals to any thread make the kernel look at who polls a signalfd, so its switches say nothing:
// a wait that ends late was followed by a pause.
template <typename Wait>
void count_late_ends(Wait wait) {
  wait();
  if (monotonic() - given_at > 1'000'000) ++pauses;
}

// Time for some samples, at which it would pay what it owes.
void go_on_from(const Means& means) {
  const long before = given_up();
  compute();
  pauses += given_up() - before;
  if (std::strcmp(means.name, "spin-lock") == 0) pthread_spin_unlock(&spin_lock);
}

void* take_turns(void* passed) {
  const auto* means = static_cast<const Means*>(passed);
  for (int round = 0; round < kRounds; ++round) {
    sem_wait(&begun);
    if (means->is_spinning()) {
      means->wait();
      go_on_from(*means);
    } else if (std::strcmp(means->name, "signalfd") == 0) {
      count_late_ends(means->wait);
    } else {
      count_pauses(means->wait);
    }
    sem_post(&done);
  }
  return nullptr;
}

void hand_over_by(const Means& means) {
  pthread_create(&other, nullptr, take_turns, const_cast<Means*>(&means));
  for (int round = 0; round < kRounds; ++round) {
    means.take();
    sem_post(&begun);
    usleep(500);  // the other waits by then, and owes nothing for the way there
    compute();
    given_at = monotonic();
    means.give();
    sem_wait(&done);
    COZ_PROGRESS;
  }
  pthread_join(other, nullptr);
}

// Each round a thread of its own computes, and main waits for its end.
void hand_over_by_joining() {
  for (int round = 0; round < kRounds; ++round) {
    pthread_create(&child, nullptr, compute_in_child, nullptr);
    count_pauses([] { pthread_join(child, nullptr); });
    COZ_PROGRESS;
  }
}

}  // namespace

int main(int, char** arguments) {
  pthread_spin_init(&spin_lock, PTHREAD_PROCESS_PRIVATE);
  pthread_barrier_init(&barrier, nullptr, 2);
  mtx_init(&c11_mutex, mtx_timed);
  cnd_init(&c11_condition);
  for (sem_t* each : {&semaphore, &begun, &done}) sem_init(each, 0, 0);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  if (std::strcmp(arguments[1], "join") == 0) hand_over_by_joining();
  for (const Means& means : kMeans) {
    if (std::strcmp(arguments[1], means.name) == 0) hand_over_by(means);
  }
  std::printf("%.3f\n", static_cast<double>(pauses) / kRounds);
  return 0;
}
