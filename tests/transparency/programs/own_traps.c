/* SIGTRAP of the program's own: breakpoint instructions, in every thread, handled with what the
 * processor says. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include "transparency.h"

static __thread volatile sig_atomic_t traps, nested, blocked_within;
static __thread sigjmp_buf back;
static volatile int jumps;
/* What a thread says comes in one piece. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static void trapped(int number, siginfo_t* info, void* context) {
  sigset_t now;
  traps++;
  pthread_sigmask(SIG_SETMASK, NULL, &now);
  blocked_within += sigismember(&now, SIGTRAP) == 1 && sigismember(&now, SIGUSR1) == 1;
  nested += number == SIGTRAP && info->si_signo == SIGTRAP && info->si_code == SI_KERNEL &&
            context != NULL;
  for (volatile int i = 0; i < 300000; i = i + 1) {
  }
  if (jumps) siglongjmp(back, 1);
}

static void* runs_into(void* argument) {
  for (int i = 0; i < 50; i++) {
    __asm__ volatile("int3");
    work(1);
  }
  pthread_mutex_lock(&one_at_a_time);
  say("each trap was handled", traps == 50 && nested == 50);
  say("with the signal and the handler's mask blocked", blocked_within == 50);
  pthread_mutex_unlock(&one_at_a_time);
  return argument;
}

static void* leaves(void* argument) {
  for (volatile int i = 0; i < 50; i = i + 1) {
    if (sigsetjmp(back, 1) == 0) __asm__ volatile("int3");
    work(1);
  }
  say("each trap was left", traps == 50);
  return argument;
}

static void in_threads(void* (*routine)(void*)) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, routine, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

int main(void) {
  struct sigaction action;
  work(150);
  memset(&action, 0, sizeof action);
  action.sa_sigaction = trapped;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, SIGUSR1);
  sigaction(SIGTRAP, &action, NULL);
  in_threads(runs_into);
  jumps = 1;
  in_threads(leaves);
  return 0;
}
