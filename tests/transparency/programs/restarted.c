/* What SA_RESTART promises, and what its absence does: calls end with EINTR when the program's
 * handler runs, and only then. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include "transparency.h"

static volatile int over;
static volatile sig_atomic_t handled;
static pthread_t main_thread;
static int ends[2];

static void handle(int number) {
  (void)number;
  handled++;
}

/* The alarm is for the main thread. */
static void* computes(void* argument) {
  sigset_t alarm_only;
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
  while (!over) work(1);
  return argument;
}

/* A signal first, then what the call waits for. */
static void* disturbs(void* argument) {
  usleep(20000);
  pthread_kill(main_thread, SIGUSR1);
  usleep(20000);
  if (write(ends[1], "x", 1) != 1) abort();
  return argument;
}

static int reads(int flags) {
  struct sigaction action;
  pthread_t thread;
  char byte;
  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  action.sa_flags = flags;
  sigaction(SIGUSR1, &action, NULL);
  handled = 0;
  pthread_create(&thread, NULL, disturbs, NULL);
  const long result = read(ends[0], &byte, 1);
  const int error = errno;
  pthread_join(thread, NULL);
  if (result < 0 && read(ends[0], &byte, 1) != 1) return -1;
  return handled != 1 ? -1 : result == 1 ? 0 : error;
}

/* Long enough for samples, which end no call, and with a call of its own. */
static void computes_and_sleeps(int number) {
  (void)number;
  work(4);
  usleep(1000);
  work(1);
  handled++;
}

static void* disturbs_once(void* argument) {
  usleep(20000);
  pthread_kill(main_thread, SIGUSR1);
  return argument;
}

/* poll is never restarted: whoever waits for the handler may wait for ever. How often of 8 times it
 * ends: on a busy machine the signal may come before the call. (And late: whoever sends it may have
 * to pay delays, of a line that always runs, until the experiment is over.) */
static int poll_ends(void) {
  int ended = 0;
  signal(SIGUSR1, computes_and_sleeps);
  for (int i = 0; i < 8; i++) {
    pthread_t thread;
    handled = 0;
    pthread_create(&thread, NULL, disturbs_once, NULL);
    ended += poll(NULL, 0, 5000) == -1 && errno == EINTR && handled == 1;
    pthread_join(thread, NULL);
  }
  return ended;
}

static sigjmp_buf back;
static void leaves(int number) {
  (void)number;
  siglongjmp(back, 1);
}

/* The classic time-out, amid a computation: out of whatever the signal has interrupted, a pause of
 * the profiler's too. */
static int is_left(void) {
  volatile int left = 0;
  signal(SIGALRM, leaves);
  for (volatile int i = 0; i < 30; i = i + 1) {
    if (sigsetjmp(back, 1) == 0) {
      ualarm(3000, 0);
      for (;;) work(1);
    }
    left = left + 1;
  }
  signal(SIGALRM, SIG_DFL);
  return left == 30;
}

int main(void) {
  pthread_t thread;
  int wrong = 0, ended = 0;
  main_thread = pthread_self();
  if (pipe(ends) != 0) return 1;
  work(150);
  pthread_create(&thread, NULL, computes, NULL);
  for (int i = 0; i < 8; i++) wrong += reads(SA_RESTART) != 0;
  say("read goes on with SA_RESTART", wrong == 0);
  for (int i = 0; i < 8; i++) {
    const int how = reads(0);
    ended += how == EINTR;
    wrong += how != EINTR && how != 0; /* the signal came first */
  }
  say("read ends without", wrong == 0 && ended >= 4);
  say("poll ends when a handler has run that takes its time", poll_ends() >= 4);
  say("a computation is left by a handler", is_left());
  over = 1;
  pthread_join(thread, NULL);
  return 0;
}
