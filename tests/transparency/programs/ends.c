/* The ends that a process may come to. argv[1]: which. A thread computes meanwhile. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include "transparency.h"

static void* computes(void* argument) {
  for (;;) work(1);
  return argument;
}

static void told_at_exit(void) { printf("at exit\n"); }
static void told_at_quick_exit(void) {
  printf("at quick exit\n");
  fflush(stdout);
}

static void* exits(void* argument) {
  work(10);
  exit(13);
  return argument;
}

static void leaves(int number) {
  static const char text[] = "handled\n";
  if (write(1, text, sizeof text - 1) < 0) _exit(1);
  _exit(40 + number);
}

static void aborted(int number) {
  printf("SIGABRT %s\n", number == SIGABRT ? "handled" : "?");
  fflush(stdout);
}

/* Where a handler that calls _exit may find a thread: amid malloc, with its lock held. */
static void* allocates(void* argument) {
  for (;;) {
    void* memory[20];
    for (int i = 0; i < 20; i++) memory[i] = malloc((size_t)(3000 + 5000 * i));
    for (int i = 0; i < 20; i++) free(memory[i]);
    COZ_PROGRESS_NAMED("allocated");
  }
  return argument;
}

static int end(const char* how) {
  if (strcmp(how, "return") == 0) return 9;
  if (strcmp(how, "exit") == 0) exit(10);
  if (strcmp(how, "_exit") == 0) _exit(11);
  if (strcmp(how, "_Exit") == 0) _Exit(11);
  if (strcmp(how, "quick_exit") == 0) quick_exit(12);
  if (strcmp(how, "exit_group") == 0) syscall(SYS_exit_group, 14);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "abort_handled") == 0) {
    signal(SIGABRT, aborted);
    abort();
  }
  if (strcmp(how, "null") == 0) *(volatile int*)0 = 1;
  if (strcmp(how, "core") == 0) {
    const struct rlimit limit = {1 << 30, 1 << 30};
    setrlimit(RLIMIT_CORE, &limit);
    *(volatile int*)0 = 1;
  }
  if (strcmp(how, "int3") == 0) __asm__ volatile("int3");
  if (strcmp(how, "int3_ignored") == 0) {
    signal(SIGTRAP, SIG_IGN);
    __asm__ volatile("int3");
  }
  if (strcmp(how, "trap") == 0) raise(SIGTRAP);
  if (strcmp(how, "stkflt") == 0) raise(SIGSTKFLT);
  if (strcmp(how, "kill") == 0) raise(SIGKILL);
  if (strcmp(how, "divide") == 0) {
    volatile int zero = 0;
    return 1000 / zero;
  }
  if (strcmp(how, "thread") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, exits, NULL);
    pause();
  }
  if (strcmp(how, "handler") == 0) {
    signal(SIGALRM, leaves);
    pthread_t thread;
    pthread_create(&thread, NULL, allocates, NULL);
    ualarm(50000, 0);
    allocates(NULL);
  }
  return 1;
}

int main(int count, char** arguments) {
  pthread_t thread;
  if (count != 2) return 2;
  atexit(told_at_exit);
  at_quick_exit(told_at_quick_exit);
  pthread_create(&thread, NULL, computes, NULL);
  work(250);
  printf("to the end\n");
  fflush(stdout);
  return end(arguments[1]);
}
