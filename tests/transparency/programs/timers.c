/* The program's own timers: SIGPROF of ITIMER_PROF, SIGVTALRM, SIGALRM, timers that call in
 * threads, that signal one thread. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include "transparency.h"

static volatile sig_atomic_t ticks[65];
static volatile int calls;

static void tick(int number) { ticks[number]++; }

static void call(union sigval value) {
  work(1);
  __atomic_fetch_add(&calls, value.sival_int, __ATOMIC_SEQ_CST);
}

static void set_handler(int number) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = tick;
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, NULL);
}

static int comes(int which, int number) {
  const struct itimerval often = {{0, 5000}, {0, 5000}};
  const struct itimerval never = {{0, 0}, {0, 0}};
  set_handler(number);
  setitimer(which, &often, NULL);
  for (int i = 0; i < 5000 && ticks[number] < 10; i++) work(1);
  setitimer(which, &never, NULL);
  return ticks[number] >= 10;
}

static int calls_a_thread(void) {
  timer_t timer;
  struct sigevent event;
  const struct itimerspec often = {{0, 5000000}, {0, 5000000}};
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD;
  event.sigev_notify_function = call;
  event.sigev_value.sival_int = 1;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return 0;
  timer_settime(timer, 0, &often, NULL);
  for (int i = 0; i < 5000 && calls < 10; i++) work(1);
  timer_delete(timer);
  return calls >= 10;
}

static int signals_a_thread(void) {
  timer_t timer;
  struct sigevent event;
  const struct itimerspec often = {{0, 5000000}, {0, 5000000}};
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGRTMIN;
  event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
  set_handler(SIGRTMIN);
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) return 0;
  timer_settime(timer, 0, &often, NULL);
  for (int i = 0; i < 5000 && ticks[SIGRTMIN] < 10; i++) work(1);
  timer_delete(timer);
  return ticks[SIGRTMIN] >= 10;
}

int main(void) {
  work(150);
  say("ITIMER_PROF", comes(ITIMER_PROF, SIGPROF));
  say("ITIMER_VIRTUAL", comes(ITIMER_VIRTUAL, SIGVTALRM));
  say("ITIMER_REAL", comes(ITIMER_REAL, SIGALRM));
  say("a timer that calls in a thread", calls_a_thread());
  say("a timer that signals a thread", signals_a_thread());
  return 0;
}
