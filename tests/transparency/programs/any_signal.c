/* Every signal may be handled, ignored, blocked, waited for, and read from a descriptor. A thread
 * computes meanwhile. Without arguments: all but SIGTRAP and SIGSTKFLT, one of which is the
 * profiler's; NUMBER: this one; "action" NUMBER: of this one only what is done when it comes;
 * "blocked" NUMBER: all but reading it from a descriptor. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include "transparency.h"

static volatile int over;
static volatile sig_atomic_t came, from, code;

static void* computes(void* argument) {
  while (!over) work(1);
  return argument;
}

static void note(int number, siginfo_t* info, void* context) {
  (void)context;
  came = number;
  from = info->si_pid;
  code = info->si_code;
}

static void set_handler(int number, int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = note;
  action.sa_flags = SA_SIGINFO | flags;
  sigemptyset(&action.sa_mask);
  if (sigaction(number, &action, NULL) != 0) say("sigaction", 0);
}

static sigset_t only(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  return set;
}

__attribute__((noipa)) static int is_pending(int number) {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, number);
}

static int is_handled(int number) {
  set_handler(number, 0);
  came = from = 0;
  raise(number);
  if (came != number || from != getpid() || code != SI_TKILL) return 0;
  came = 0;
  kill(getpid(), number);
  for (int i = 0; i < 1000 && came == 0; i++) work(1);
  return came == number && code == SI_USER;
}

static int is_reset_by_resethand(int number) {
  struct sigaction now;
  set_handler(number, SA_RESETHAND);
  came = 0;
  raise(number);
  sigaction(number, NULL, &now);
  return came == number && now.sa_handler == SIG_DFL;
}

static int is_seen_as_set(int number) {
  struct sigaction now;
  set_handler(number, SA_ONSTACK | SA_NODEFER);
  sigaction(number, NULL, &now);
  return now.sa_sigaction == note && (now.sa_flags & SA_ONSTACK) && (now.sa_flags & SA_NODEFER) &&
         sigismember(&now.sa_mask, number) == 0;
}

static int is_ignored(int number) {
  if (signal(number, SIG_IGN) == SIG_ERR) return 0;
  raise(number);
  work(1);
  return signal(number, SIG_DFL) == SIG_IGN;
}

/* Blocked, it is seen to be, stays pending, and comes when it is unblocked. */
static int is_blocked(int number) {
  const sigset_t set = only(number);
  sigset_t before, now;
  set_handler(number, 0);
  came = 0;
  pthread_sigmask(SIG_BLOCK, &set, &before);
  pthread_sigmask(SIG_SETMASK, NULL, &now);
  const int seen = !sigismember(&before, number) && sigismember(&now, number);
  raise(number);
  work(2);
  const int held = came == 0 && is_pending(number);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  return seen && held && came == number && !is_pending(number);
}

/* Of another process, so to say: another thread sends it to the process, not to this thread. */
static void* sends(void* number) {
  usleep(2000);
  kill(getpid(), *(int*)number);
  return NULL;
}

static int is_waited_for(int number) {
  const sigset_t set = only(number);
  int got = 0;
  pthread_t thread;
  siginfo_t info;
  const struct timespec moment = {0, 1000000};
  const struct timespec long_time = {20, 0};
  came = 0;
  raise(number);
  const int at_once = sigwait(&set, &got) == 0 && got == number;
  const int none = sigtimedwait(&set, &info, &moment) == -1 && errno == EAGAIN;
  pthread_create(&thread, NULL, sends, &number);
  const int later = sigtimedwait(&set, &info, &long_time) == number && info.si_pid == getpid();
  pthread_join(thread, NULL);
  return at_once && none && later && came == 0;
}

/* A call with a mask of its own, which alone does not block the signal, is ended by it. */
static int ends_calls(int number) {
  sigset_t others;
  pthread_t thread;
  const struct timespec long_time = {20, 0};
  set_handler(number, 0);
  sigfillset(&others);
  sigdelset(&others, number);
  came = 0;
  raise(number);
  const int pending = came == 0 && sigsuspend(&others) == -1 && errno == EINTR && came == number;
  came = 0;
  pthread_create(&thread, NULL, sends, &number);
  const int later = ppoll(NULL, 0, &long_time, &others) == -1 && errno == EINTR && came == number;
  pthread_join(thread, NULL);
  return pending && later;
}

/* Pending when it begins to be ignored, it is so no more. */
static int is_forgotten(int number) {
  const sigset_t set = only(number);
  came = 0;
  raise(number);
  signal(number, SIG_IGN);
  set_handler(number, 0);
  const int gone = !is_pending(number);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  sigprocmask(SIG_BLOCK, &set, NULL);
  return gone && came == 0;
}

static void* sees_mask(void* number) {
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, NULL, &now);
  return sigismember(&now, *(int*)number) ? number : NULL;
}

static int is_inherited(int number) {
  pthread_t thread;
  pthread_attr_t none;
  void *by_creator, *by_attribute;
  sigset_t empty;
  sigemptyset(&empty);
  pthread_attr_init(&none);
  pthread_attr_setsigmask_np(&none, &empty);
  pthread_create(&thread, NULL, sees_mask, &number);
  pthread_join(thread, &by_creator);
  pthread_create(&thread, &none, sees_mask, &number);
  pthread_join(thread, &by_attribute);
  pthread_attr_destroy(&none);
  return by_creator == &number && by_attribute == NULL;
}

static int is_read(int number) {
  const sigset_t set = only(number);
  struct signalfd_siginfo info;
  pthread_t thread;
  came = 0;
  const int descriptor = signalfd(-1, &set, SFD_CLOEXEC);
  struct pollfd wanted = {descriptor, POLLIN, 0};
  raise(number);
  const int at_once = read(descriptor, &info, sizeof info) == sizeof info &&
                      info.ssi_signo == (unsigned)number && info.ssi_pid == (unsigned)getpid();
  pthread_create(&thread, NULL, sends, &number);
  const int later = poll(&wanted, 1, 20000) == 1 &&
                    read(descriptor, &info, sizeof info) == sizeof info &&
                    info.ssi_signo == (unsigned)number;
  pthread_join(thread, NULL);
  close(descriptor);
  return at_once && later && came == 0;
}

static void say_of(int number, const char* what, int holds) {
  char text[80];
  snprintf(text, sizeof text, "signal %d %s", number, what);
  say(text, holds);
}

static void check_action(int number) {
  say_of(number, "is handled", is_handled(number));
  say_of(number, "is reset by SA_RESETHAND", is_reset_by_resethand(number));
  say_of(number, "is seen as it was set", is_seen_as_set(number));
  if (number != SIGCONT) say_of(number, "is ignored", is_ignored(number));
}

static void check_blocked(int number, int reads) {
  pthread_t thread;
  say_of(number, "is blocked", is_blocked(number));
  /* As is usual: blocked before there are other threads. */
  const sigset_t set = only(number);
  sigprocmask(SIG_BLOCK, &set, NULL);
  over = 0;
  pthread_create(&thread, NULL, computes, NULL);
  say_of(number, "is waited for", is_waited_for(number));
  say_of(number, "ends calls that do not block it", ends_calls(number));
  say_of(number, "is forgotten once ignored", is_forgotten(number));
  say_of(number, "is blocked in a new thread", is_inherited(number));
  if (reads) say_of(number, "is read from a descriptor", is_read(number));
  over = 1;
  pthread_join(thread, NULL);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int main(int count, char** arguments) {
  work(150);
  if (count == 3 && strcmp(arguments[1], "action") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, computes, NULL);
    check_action(atoi(arguments[2]));
    return 0;
  }
  const int only_one = count > 1 ? atoi(arguments[count - 1]) : 0;
  for (int number = 1; number < SIGRTMIN + 2; number++) {
    if (number == SIGKILL || number == SIGSTOP || (number > 31 && number < SIGRTMIN)) continue;
    const int is_profilers = number == SIGTRAP || number == SIGSTKFLT;
    if (only_one != 0 ? number != only_one : is_profilers) continue;
    check_action(number);
    check_blocked(number, count < 3);
  }
  return 0;
}
