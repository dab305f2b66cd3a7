/* What POSIX and signal(7) promise of one signal, argv[1], that a thread may block, handle, send
 * and wait for. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include "one_signal.h"

/* X/Open's, which <signal.h> declares no longer. */
sighandler_t bsd_signal(int signal, sighandler_t handler);

static volatile sig_atomic_t depth, deepest, over, torn, thread_came;
static int ends[2];

static void change(int how) {
  const sigset_t set = only(number);
  pthread_sigmask(how, &set, NULL);
}

static void act(int signal, void (*handler)(int), int flags, int with_all) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  if (with_all) sigfillset(&action.sa_mask);
  sigaction(signal, &action, NULL);
}

/* As libraries do around what must not be disturbed. */
static void saves_and_restores(int signal) {
  sigset_t all, before;
  (void)signal;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  sigprocmask(SIG_SETMASK, &before, NULL);
}

static void opens_and_restores(int signal) {
  sigset_t none, before;
  (void)signal;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, &before);
  sigprocmask(SIG_SETMASK, &before, NULL);
}

static int stays_blocked(void (*handler)(int), int flags, int with_all) {
  act(SIGUSR1, handler, flags, with_all);
  act(number, handle, 0, 0);
  change(SIG_BLOCK);
  handled = 0;
  raise(SIGUSR1);
  const int is_kept = is_blocked() && handled == 0;
  raise(number);
  const int is_deferred = handled == 0;
  change(SIG_UNBLOCK);
  return is_kept && is_deferred && handled == 1 && !is_blocked();
}

static void* sends_and_writes(void* argument) {
  usleep(20000);
  pthread_kill(main_thread, number);
  usleep(200000);
  if (write(ends[1], "x", 1) != 1) abort();
  return argument;
}

/* The handler has SA_RESTART or not; the call is one that is restarted. */
static int read_ends(int flags) {
  pthread_t thread;
  char byte;
  act(number, handle, flags, 0);
  pthread_create(&thread, NULL, sends_and_writes, NULL);
  const long result = read(ends[0], &byte, 1);
  const int error = errno;
  if (result < 0 && read(ends[0], &byte, 1) != 1) abort();
  pthread_join(thread, NULL);
  return result < 0 ? error : 0;
}

/* The signal comes before the call on a busy machine, now and then. */
static int mostly_ends(int flags) {
  int ended = 0;
  for (int i = 0; i < 5; i++) ended += read_ends(flags) == EINTR;
  return ended >= 3;
}

static void raises(int signal) {
  depth++;
  if (depth > deepest) deepest = depth;
  if (handled++ < 2) raise(signal);
  depth--;
}

static int nests(int flags) {
  act(number, raises, flags, 0);
  deepest = handled = 0;
  raise(number);
  return deepest;
}

static void computes_long(int signal) {
  (void)signal;
  handled++;
  if (!pthread_equal(pthread_self(), main_thread)) return;
  for (int i = 0; i < 100 && !thread_came; i++) usleep(10000);
}

static void* is_free(void* argument) {
  while (handled < 2) poll(NULL, 0, 10);
  thread_came = 1;
  return argument;
}

static void* sends_to_process(void* argument) {
  change(SIG_BLOCK);
  while (handled == 0) usleep(1000);
  kill(getpid(), number);
  return argument;
}

/* Main is in its handler, which blocks it, until another thread has got the second. */
static int busy_thread_is_passed_over(void) {
  pthread_t sender, other;
  handled = 0;
  act(number, computes_long, 0, 0);
  pthread_create(&other, NULL, is_free, NULL);
  pthread_create(&sender, NULL, sends_to_process, NULL);
  raise(number);
  const int came = thread_came;
  while (handled < 2) usleep(1000);
  pthread_join(other, NULL);
  pthread_join(sender, NULL);
  return came;
}

/* In a thread that blocks it, while main does not wait for it, and blocks it too. */
static void* sends_to_itself(void* argument) {
  const sigset_t set = only(number);
  const struct timespec at_once = {0, 0};
  for (int i = 0; i < 2000; i++) {
    sigset_t pending;
    const union sigval value = {.sival_int = i};
    siginfo_t info;
    if ((i % 2 ? sigqueue(getpid(), number, value) : kill(getpid(), number)) != 0)
      return "not sent";
    if (sigpending(&pending) != 0 || !sigismember(&pending, number)) return "not pending";
    if (sigtimedwait(&set, &info, &at_once) != number) return "not there";
    if (i % 2 ? info.si_code != SI_QUEUE || info.si_value.sival_int != i
              : info.si_code != SI_USER) {
      return "not as it was sent";
    }
  }
  return argument;
}

static int is_pending_at_once(void) {
  pthread_t thread;
  void* result;
  change(SIG_BLOCK);
  pthread_create(&thread, NULL, sends_to_itself, NULL);
  pthread_join(thread, &result);
  if (result != NULL) puts(result);
  change(SIG_UNBLOCK);
  return result == NULL;
}

/* Nobody sends anything: calls with a mask of their own end by their time. */
static int ends_by_time_alone(void) {
  const struct timespec moment = {0, 20000};
  sigset_t all, none, before;
  int ended = 0;
  sigfillset(&all);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &all, &before);
  for (int i = 0; i < 600; i++) {
    for (volatile int turn = 0; turn < 3000; turn = turn + 1) {
    }
    ended += ppoll(NULL, 0, &moment, &none) != 0;
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
  return ended == 0;
}

static int waits_for_ever(void) {
  const struct timespec for_ever = {LONG_MAX, 0};
  act(number, handle, 0, 0);
  pthread_t thread;
  handled = 0;
  pthread_create(&thread, NULL, sends_and_writes, NULL);
  struct pollfd input = {ends[0], POLLIN, 0};
  change(SIG_BLOCK);
  const int ready = ppoll(&input, 1, &for_ever, NULL);
  change(SIG_UNBLOCK);
  char byte;
  if (read(ends[0], &byte, 1) != 1) abort();
  pthread_join(thread, NULL);
  return ready == 1 && handled == 1;
}

static void with_three(int signal, siginfo_t* info, void* context) {
  torn += info == NULL || context == NULL || info->si_signo != signal;
}

static void* toggles(void* argument) {
  struct sigaction one, three;
  memset(&one, 0, sizeof one);
  memset(&three, 0, sizeof three);
  one.sa_handler = handle;
  three.sa_sigaction = with_three;
  three.sa_flags = SA_SIGINFO;
  while (!over) {
    sigaction(number, &one, NULL);
    sigaction(number, &three, NULL);
  }
  return argument;
}

static int actions_are_whole(void) {
  pthread_t thread;
  act(number, handle, 0, 0);
  pthread_create(&thread, NULL, toggles, NULL);
  for (int i = 0; i < 20000; i++) raise(number);
  over = 1;
  pthread_join(thread, NULL);
  return torn == 0;
}

static void* computes(void* argument) {
  while (!over) work(1);
  return argument;
}

/* Sends one, to a thread that runs, and then the next once that one has come. */
static int all_come(pthread_t thread) {
  handled = 0;
  act(number, handle, 0, 0);
  for (int i = 0; i < 4000; i++) {
    for (volatile int turn = 0; turn < i % 200 * 50; turn = turn + 1) {
    }
    const int is_self = pthread_equal(thread, pthread_self());
    const union sigval value = {.sival_int = i};
    if (is_self ? raise(number)
        : i % 2 ? pthread_kill(thread, number)
                : pthread_sigqueue(thread, number, value))
      return 0;
    for (int wait = 0; !is_self && wait < 10000 && handled == i; wait++) usleep(100);
    if (handled != i + 1) return 0;
  }
  return 1;
}

static int all_come_to_another(void) {
  pthread_t thread;
  over = 0;
  pthread_create(&thread, NULL, computes, NULL);
  const int good = all_come(thread);
  over = 1;
  pthread_join(thread, NULL);
  return good;
}

static int older_ones_work(void) {
  struct sigaction now;
  int good = bsd_signal(number, handle) != SIG_ERR && sigaction(number, NULL, &now) == 0;
  good &= now.sa_handler == handle && (now.sa_flags & SA_RESTART) != 0;
  good &= ssignal(number, SIG_IGN) == handle && sysv_signal(number, handle) == SIG_IGN;
  good &= sigaction(number, NULL, &now) == 0 && now.sa_handler == handle;
  good &= (now.sa_flags & (int)(SA_RESETHAND | SA_NODEFER)) == (int)(SA_RESETHAND | SA_NODEFER);
  good &= signal(number, SIG_ERR) == SIG_ERR && errno == EINVAL;
  return good;
}

int main(int count, char** arguments) {
  static char stack[65536];
  const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
  number = count > 1 ? atoi(arguments[1]) : SIGUSR2;
  main_thread = pthread_self();
  if (pipe(ends) != 0 || sigaltstack(&alternate, NULL) != 0) abort();
  work(50);
  say("blocked after a handler that blocks all", stays_blocked(saves_and_restores, 0, 1));
  say("after one with nothing blocked", stays_blocked(saves_and_restores, 0, 0));
  say("after one on an alternate stack", stays_blocked(saves_and_restores, SA_ONSTACK, 0));
  say("after both", stays_blocked(saves_and_restores, SA_ONSTACK, 1));
  say("after one that unblocks for a while", stays_blocked(opens_and_restores, 0, 1));
  say("a call ends without SA_RESTART", mostly_ends(0));
  say("and goes on with it", read_ends(SA_RESTART) == 0);
  say("a handler interrupts itself where it may", nests(SA_NODEFER) == 3);
  say("and where not, it does not", nests(0) == 1);
  say("another thread gets what is for all", busy_thread_is_passed_over());
  say("what is sent is pending", is_pending_at_once());
  say("calls end by their time alone", ends_by_time_alone());
  say("and wait for ever", waits_for_ever());
  say("actions come as a whole", actions_are_whole());
  say("every one that is raised comes", all_come(pthread_self()));
  say("so does what another thread is sent", all_come_to_another());
  say("the other names of signal() do the same", older_ones_work());
  signal(number, SIG_DFL);
  work(50);
  return 0;
}
