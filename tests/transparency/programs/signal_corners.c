/* What a program may do with one signal, argv[1], amid others: handlers that restore the mask,
 * calls that an ignored or blocked one does not end, threads that end behind libc's back. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include "one_signal.h"

static volatile sig_atomic_t visits;

/* May be counted by a breakpoint. */
__attribute__((noipa)) static void visited(void) { visits = visits + 1; }

/* Blocks all for a while, as libraries do. */
static void restores_mask(int signal) {
  sigset_t all, none, before;
  (void)signal;
  sigfillset(&all);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, &before);
  sigprocmask(SIG_BLOCK, &all, NULL);
  sigprocmask(SIG_SETMASK, &before, NULL);
}

static int is_free_after_handlers(int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = restores_mask;
  action.sa_flags = flags;
  if (flags == 0) sigfillset(&action.sa_mask);
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  signal(number, handle);
  handled = 0;
  raise(number);
  return !is_blocked() && handled == 1;
}

static void* sends(void* argument) {
  usleep(20000);
  pthread_kill(main_thread, number);
  return argument;
}

static int poll_goes_on(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, sends, NULL);
  const int result = poll(NULL, 0, 100);
  pthread_join(thread, NULL);
  return result == 0;
}

/* The alarm ends it, 100 ms later. */
static int pause_goes_on(void) {
  pthread_t thread;
  const struct itimerval once = {{0, 0}, {0, 100000}};
  const sigset_t alarm_only = only(SIGALRM);
  handled = 0;
  signal(SIGALRM, handle);
  sigprocmask(SIG_BLOCK, &alarm_only, NULL);
  pthread_create(&thread, NULL, sends, NULL);
  sigprocmask(SIG_UNBLOCK, &alarm_only, NULL);
  setitimer(ITIMER_REAL, &once, NULL);
  const int result = pause();
  const int by_alarm = handled == 1;
  pthread_join(thread, NULL);
  return result == -1 && by_alarm;
}

static void* leaves(void* argument) {
  visited();
  syscall(SYS_exit, 0);
  return argument;
}

static void* ends(void* argument) { return argument; }

/* Their stacks are used again; and a signal for the process finds who is left. */
static int others_go_on(void) {
  const sigset_t set = only(number);
  pthread_attr_t detached;
  pthread_t thread;
  siginfo_t info;
  const struct timespec second = {1, 0};
  int got = -1;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  for (int i = 0; i < 4; i++) pthread_create(&thread, &detached, leaves, NULL);
  for (int i = 0; i < 40; i++) {
    if (pthread_create(&thread, NULL, ends, NULL) == 0) pthread_join(thread, NULL);
  }
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  /* A detached thread that has not ended yet may take the signal. */
  for (int i = 0; i < 20 && got != number; i++) {
    kill(getpid(), number);
    got = sigtimedwait(&set, &info, &second);
  }
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  pthread_attr_destroy(&detached);
  return got == number && visits > 0;
}

/* With it blocked, as it is in those that block all signals around fork. */
static int child_runs(void) {
  const sigset_t set = only(number);
  int status = -1;
  sigprocmask(SIG_BLOCK, &set, NULL);
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 100; i++) visited();
    _exit(7);
  }
  waitpid(child, &status, 0);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  return WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

/* How libraries ask whether an address may be read: by a call that fails in any case. */
static int addresses_are_told(void) {
  const char* unreadable = (const char*)16;
  unsigned long readable = 0;
  const int first = syscall(SYS_rt_sigprocmask, ~0, unreadable, NULL, 8) == -1 && errno == EFAULT;
  const int second = syscall(SYS_rt_sigprocmask, ~0, &readable, NULL, 8) == -1 && errno == EINVAL;
  return first && second && syscall(SYS_rt_sigprocmask, SIG_BLOCK, unreadable, NULL, 8) == -1 &&
         errno == EFAULT;
}

/* The kernel reads the new mask before it writes the old one to the same place. */
static int one_set_is_both(void) {
  unsigned long both = 1UL << (SIGUSR1 - 1), now = 0;
  if (syscall(SYS_rt_sigprocmask, SIG_BLOCK, &both, &both, sizeof both) != 0) return 0;
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &now, sizeof now);
  const int blocked = (now >> (SIGUSR1 - 1)) & 1;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &both, NULL, sizeof both);
  return blocked;
}

int main(int count, char** arguments) {
  const sigset_t set = (number = count > 1 ? atoi(arguments[1]) : SIGUSR2, only(number));
  main_thread = pthread_self();
  work(150);
  say("free after a handler that blocks all", is_free_after_handlers(0));
  say("free after a handler on an alternate stack", is_free_after_handlers(SA_ONSTACK));
  signal(number, SIG_IGN);
  say("poll goes on past what is ignored", poll_goes_on());
  say("pause goes on past what is ignored", pause_goes_on());
  signal(number, handle);
  sigprocmask(SIG_BLOCK, &set, NULL);
  say("poll goes on past what is blocked", poll_goes_on());
  say("pause goes on past what is blocked", pause_goes_on());
  handled = 0;
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  say("which comes then", handled == 1);
  say("threads that end by a system call leave nothing behind", others_go_on());
  say("a child runs on", child_runs());
  say("addresses are told by a call that fails", addresses_are_told());
  say("one set as new and old mask", one_set_is_both());
  for (int each = 1; each < 32; each++) {
    if (each != SIGKILL && each != SIGSTOP) sysv_signal(each, SIG_DFL);
  }
  work(50);
  return 0;
}
