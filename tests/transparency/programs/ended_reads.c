/* A signal ends a call that waits, also when a sample is due in the call. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>
#include "transparency.h"

#define ROUNDS 1000

static pthread_t reader;
static int ends[2];
static volatile int handled;
static volatile int is_over;
static volatile int to_be_made; /* signals that found the call about to be made, or made again */

static void handler(int number, siginfo_t* info, void* context) {
#if defined(__x86_64__)
  const greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  const unsigned char* next = (const unsigned char*)registers[REG_RIP];
  to_be_made += next[0] == 0x0f && next[1] == 0x05 && registers[REG_RAX] == 0; /* read */
#endif
  (void)number, (void)info, (void)context;
  ++handled;
}

static void sleep_for(long microseconds) {
  const struct timespec time = {0, microseconds * 1000};
  nanosleep(&time, NULL);
}

/* A signal at a time, until all reads have ended. */
static void* disturb(void* argument) {
  for (int sent = 0; !is_over; ++sent) {
    sleep_for(300);
    pthread_kill(reader, SIGUSR1);
    for (int waits = 0; waits < 1000 && handled <= sent && !is_over; ++waits) sleep_for(200);
  }
  return argument;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
  pthread_t thread;
  int interrupted = 0;
  reader = pthread_self();
  if (pipe(ends) != 0) return 2;
  work(50);
  sigaction(SIGUSR1, &action, NULL);
  pthread_create(&thread, NULL, disturb, NULL);
  for (int round = 0; round < ROUNDS; ++round) {
    char byte;
    work(0);
    interrupted += read(ends[0], &byte, 1) == -1 && errno == EINTR;
  }
  is_over = 1;
  pthread_join(thread, NULL);
  say("each read is ended", interrupted == ROUNDS);
  /* A signal may come as the thread is about to make the call, but hardly ever does. */
  say("hardly a signal finds a call to be made", to_be_made <= 2);
  return 0;
}
