// Calls that block, and what POSIX and C11 say of them: return values, errors, the program's own
// signals, cancellation. Each line printed says that one thing holds.
#include <coz.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <semaphore>
#include <thread>

namespace {

void say(const char* what, bool holds) {
  std::printf("%s: %s\n", what, holds ? "yes" : "NO");
  std::fflush(stdout);
}

void nap() { usleep(20'000); }

void mutexes() {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_t checking;
  pthread_mutex_init(&checking, &attributes);
  say("an unlocked mutex is not ours to unlock", pthread_mutex_unlock(&checking) == EPERM);
  pthread_mutex_lock(&checking);
  say("relocking is a deadlock", pthread_mutex_lock(&checking) == EDEADLK);
  pthread_mutex_unlock(&checking);

  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_t recursive;
  pthread_mutex_init(&recursive, &attributes);
  pthread_mutex_lock(&recursive);
  say("a recursive mutex nests", pthread_mutex_lock(&recursive) == 0);
  pthread_mutex_unlock(&recursive);
  std::thread([&] { say("and stays held", pthread_mutex_trylock(&recursive) == EBUSY); }).join();
  pthread_mutex_unlock(&recursive);

  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_NORMAL);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_t robust;
  pthread_mutex_init(&robust, &attributes);
  std::thread([&] { pthread_mutex_lock(&robust); }).join();
  say("a robust mutex tells of a dead owner", pthread_mutex_lock(&robust) == EOWNERDEAD);
  pthread_mutex_unlock(&robust);  // not made consistent
  say("and cannot be recovered", pthread_mutex_lock(&robust) == ENOTRECOVERABLE);

  pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&held);
  const timespec nonsense = {0, 2'000'000'000};
  say("a nonsensical time is refused", pthread_mutex_timedlock(&held, &nonsense) == EINVAL);
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_rwlock_wrlock(&lock);
  say("a write lock taken twice is a deadlock", pthread_rwlock_wrlock(&lock) == EDEADLK);

  // Of some calls the arguments are looked at before the lock.
  pthread_rwlock_t is_free = PTHREAD_RWLOCK_INITIALIZER;
  say("also for a free lock", pthread_rwlock_timedwrlock(&is_free, &nonsense) == EINVAL);
  const timespec past = {0, 0};
  say("as is an unfit clock",
      pthread_rwlock_clockrdlock(&is_free, CLOCK_PROCESS_CPUTIME_ID, &past) == EINVAL);
  say("which leaves the lock free", pthread_rwlock_trywrlock(&is_free) == 0);
  sem_t has_one;
  sem_init(&has_one, 0, 1);
  say("and for a semaphore", sem_timedwait(&has_one, &nonsense) == -1 && errno == EINVAL);
  say("which keeps its unit", sem_trywait(&has_one) == 0);

  pthread_t ended;
  pthread_create(&ended, nullptr, [](void* given) { return given; }, nullptr);
  usleep(20'000);
  say("no thread is joined by an unfit clock",
      pthread_clockjoin_np(ended, nullptr, CLOCK_PROCESS_CPUTIME_ID, &past) == EINVAL);
  say("which can be joined afterwards", pthread_join(ended, nullptr) == 0);
  sigset_t pending, before;
  sigemptyset(&pending);
  sigaddset(&pending, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &pending, &before);
  raise(SIGUSR2);
  say("no signal is taken with a nonsensical time",
      sigtimedwait(&pending, nullptr, &nonsense) == -1 && errno == EINVAL);
  say("which can be taken afterwards", sigtimedwait(&pending, nullptr, &past) == SIGUSR2);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void spin_locks() {
  pthread_spinlock_t lock;
  pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
  int together = 0;
  bool alone = true;
  const auto count = [&] {
    for (int i = 0; i < 200'000; ++i) {
      pthread_spin_lock(&lock);
      alone = alone && ++together == 1;
      --together;
      pthread_spin_unlock(&lock);
    }
  };
  std::thread one(count);
  std::thread other(count);
  one.join();
  other.join();
  say("a spin lock keeps others out", alone && pthread_spin_lock(&lock) == 0);
  say("and is busy then", pthread_spin_trylock(&lock) == EBUSY);
  say("sched_yield", sched_yield() == 0);
}

int returns_seven(void*) { return 7; }

void threads_of_c11() {
  thrd_t thread;
  int result = 0;
  say("thrd_create", thrd_create(&thread, returns_seven, nullptr) == thrd_success);
  say("thrd_join", thrd_join(thread, &result) == thrd_success && result == 7);
  say("joining oneself is a deadlock", pthread_join(pthread_self(), nullptr) == EDEADLK);
  mtx_t mutex;
  mtx_init(&mutex, mtx_plain);
  cnd_t condition;
  cnd_init(&condition);
  bool ready = false;
  std::thread signaller([&] {
    nap();
    mtx_lock(&mutex);
    ready = true;
    mtx_unlock(&mutex);
    cnd_signal(&condition);
  });
  mtx_lock(&mutex);
  while (!ready) cnd_wait(&condition, &mutex);
  say("mtx_trylock of a held mutex", mtx_trylock(&mutex) == thrd_busy);
  mtx_unlock(&mutex);
  signaller.join();
}

void of_c20() {
  std::atomic<int> flag{0};
  std::latch latch(2);
  std::barrier barrier(2);
  std::counting_semaphore<4> semaphore(0);
  std::thread other([&] {
    nap();
    flag = 1;
    flag.notify_one();
    nap();
    latch.count_down();
    for (int i = 0; i < 100; ++i) barrier.arrive_and_wait();
    nap();
    semaphore.release();
  });
  flag.wait(0);
  say("atomic::wait", flag == 1);
  latch.arrive_and_wait();
  for (int i = 0; i < 100; ++i) barrier.arrive_and_wait();
  semaphore.acquire();
  say("a semaphore times out", !semaphore.try_acquire_for(std::chrono::milliseconds(20)));
  other.join();
}

void syscalls() {
  say("syscall returns", syscall(SYS_getpid) == getpid());
  errno = 0;
  say("syscall sets errno", syscall(SYS_close, -1) == -1 && errno == EBADF);
  const long page =
      syscall(SYS_mmap, nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
  say("syscall takes six arguments", page != -1 && *reinterpret_cast<char*>(page) == 0);
}

// --- the program's own signals

std::atomic<int> handled{0};
sem_t posted;
sigjmp_buf back;

// Sends SIGUSR1 to the caller's thread after a while.
class Disturbance {
 public:
  Disturbance()
      : target_(pthread_self()), sender_([this] {
          nap();
          pthread_kill(target_, SIGUSR1);
        }) {}
  ~Disturbance() { sender_.join(); }

 private:
  pthread_t target_;
  std::thread sender_;
};

void set_handler(void (*handler)(int), int flags) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(SIGUSR1, &action, nullptr);
}

void own_signals() {
  set_handler([](int) { ++handled; }, 0);
  {
    const Disturbance disturbance;
    const timespec duration = {5, 0};
    timespec left{};
    say("a signal ends nanosleep", nanosleep(&duration, &left) == -1 && errno == EINTR);
    say("which tells what was left", left.tv_sec == 4);
  }
  {
    const Disturbance disturbance;
    say("a signal ends sleep", sleep(5) == 4);
  }
  {
    const Disturbance disturbance;
    say("a signal ends poll", poll(nullptr, 0, 5000) == -1 && errno == EINTR);
  }
  {
    const Disturbance disturbance;
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    say("a signal ends sem_wait", sem_wait(&semaphore) == -1 && errno == EINTR);
  }
  {
    const Disturbance disturbance;
    say("a signal ends pause", pause() == -1 && errno == EINTR);
  }
  {
    const Disturbance disturbance;
    sigset_t none;
    sigemptyset(&none);
    say("a signal ends sigsuspend", sigsuspend(&none) == -1 && errno == EINTR);
  }
  {
    const Disturbance disturbance;
    int ends[2];
    if (pipe(ends) != 0) abort();
    char byte;
    say("a signal ends read", read(ends[0], &byte, 1) == -1 && errno == EINTR);
  }
  say("each was handled once", handled == 7);

  sem_init(&posted, 0, 0);
  set_handler([](int) { sem_post(&posted); }, SA_RESTART);
  {
    const Disturbance disturbance;
    say("a handler may post what is waited for", sem_wait(&posted) == 0);
  }
  set_handler([](int) { siglongjmp(back, 1); }, 0);
  {
    const Disturbance disturbance;
    const bool left = sigsetjmp(back, 1) != 0;
    if (!left) sleep(5);
    say("a handler may leave a call for good", left);
  }
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  std::thread poster([&] {
    nap();
    sem_post(&semaphore);
  });
  say("and calls work after that", sem_wait(&semaphore) == 0);
  poster.join();
}

// --- cancellation

template <typename Wait>
bool is_cancelled_in(Wait wait, bool while_it_waits = true) {
  struct Start {
    Wait wait;
    bool at_once;
  } start = {wait, !while_it_waits};
  pthread_t thread;
  const auto routine = [](void* passed) -> void* {
    auto* given = static_cast<Start*>(passed);
    if (given->at_once) pthread_cancel(pthread_self());
    given->wait();
    return nullptr;
  };
  pthread_create(&thread, nullptr, routine, &start);
  if (while_it_waits) {
    nap();
    pthread_cancel(thread);
  }
  void* result = nullptr;
  pthread_join(thread, &result);
  return result == PTHREAD_CANCELED;
}

pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;

void cancellation() {
  static sem_t none;
  static sem_t one;
  sem_init(&none, 0, 0);
  sem_init(&one, 0, 1);
  static int ends[2];
  if (pipe(ends) != 0) abort();
  say("sem_wait is cancelled", is_cancelled_in([] { sem_wait(&none); }));
  say("sem_wait is cancelled though it need not wait",
      is_cancelled_in([] { sem_wait(&one); }, false));
  int units = 0;
  sem_getvalue(&one, &units);
  say("and then takes nothing", units == 1);
  say("nanosleep is cancelled", is_cancelled_in([] { sleep(5); }));
  say("poll is cancelled", is_cancelled_in([] { poll(nullptr, 0, 5000); }));
  say("read is cancelled", is_cancelled_in([] {
        char byte;
        if (read(ends[0], &byte, 1) == 1) abort();
      }));
  say("sigwait is cancelled", is_cancelled_in([] {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGUSR2);
        int signal;
        sigwait(&set, &signal);
      }));
  say("a wait for a condition is cancelled", is_cancelled_in([] {
        pthread_mutex_lock(&guard);
        pthread_cleanup_push([](void*) { pthread_mutex_unlock(&guard); }, nullptr);
        pthread_cond_wait(&never, &guard);
        pthread_cleanup_pop(1);
      }));
  say("and has its mutex again by then", pthread_mutex_trylock(&guard) == 0);
  std::atomic<bool> end{false};
  static pthread_t long_thread;
  std::thread runs([&] {
    while (!end) usleep(1000);
  });
  long_thread = runs.native_handle();
  say("join is cancelled", is_cancelled_in([] { pthread_join(long_thread, nullptr); }));
  end = true;
  runs.join();
}

}  // namespace

int main() {
  COZ_PROGRESS;
  mutexes();
  spin_locks();
  threads_of_c11();
  of_c20();
  syscalls();
  own_signals();
  cancellation();
  return 0;
}
