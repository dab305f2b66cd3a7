/* Handlers on alternate stacks of the least size, and threads with stacks of the least size, which
 * compute. */
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include "transparency.h"

static char* stack;
static size_t size;
static volatile sig_atomic_t on_stack, handled;
static sigjmp_buf back;

/* With nothing on the stack below it that is not its own. */
static void spin(void) {
  for (volatile int i = 0; i < 4000000; i = i + 1) {
  }
}

static void computes(int number) {
  char here;
  on_stack += &here >= stack && &here < stack + size;
  spin();
  handled++;
  (void)number;
}

static void leaves(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  spin();
  handled = info->si_code == SEGV_MAPERR || info->si_code == SEGV_ACCERR;
  siglongjmp(back, 1);
}

static void set_handler(int number, void (*handler)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, NULL);
}

/* A guard page below: what overflows ends the program. */
static void* with_guard(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t whole = (bytes + page - 1) / page * page;
  char* memory =
      mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(memory, page, PROT_NONE);
  return memory + page;
}

/* Writes below the stack's end, without work on its last pages: a sample's handler has no room
 * there. */
static char* stack_end;
__attribute__((noinline)) static int leap(int depth) {
  volatile char room[256 * 1024];
  room[0] = (char)depth;
  return room[0];
}

__attribute__((noinline)) static int recurse(int depth) {
  volatile char room[3000];
  room[0] = (char)depth;
  if ((char*)room - stack_end < 128 * 1024) return leap(depth) + room[0];
  return depth < 0 ? 0 : recurse(depth + 1) + room[0];
}

static void find_stack_end(void) {
  pthread_attr_t attributes;
  size_t bytes;
  void* end;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &end, &bytes);
  pthread_attr_destroy(&attributes);
  stack_end = end;
}

static void* works_on_the_least(void* argument) {
  work(20);
  return argument;
}

/* The thread has what its attributes say, and can use what it asked for. */
static void* has_its_attributes(void* result) {
  pthread_attr_t attributes;
  sigset_t mask;
  cpu_set_t cores;
  int detached;
  volatile char room[6000];
  for (size_t i = 0; i < sizeof room; i += 100) room[i] = 1;
  work(20);
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getdetachstate(&attributes, &detached);
  pthread_attr_destroy(&attributes);
  sched_getaffinity(0, sizeof cores, &cores);
  *(volatile int*)result = sigismember(&mask, SIGWINCH) == 1 && sigismember(&mask, SIGUSR2) == 0 &&
                                   detached == PTHREAD_CREATE_DETACHED && CPU_COUNT(&cores) == 1
                               ? 1
                               : 2;
  return NULL;
}

static void create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                   void* argument) {
  if (pthread_create(thread, attributes, routine, argument) == 0) return;
  say("a thread was created", 0);
  exit(1);
}

static void check_least(void) {
  pthread_attr_t attributes;
  pthread_t threads[8];
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN);
  for (int i = 0; i < 8; i++) create(&threads[i], &attributes, works_on_the_least, NULL);
  for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
  say("threads with the least stack", 1);

  sigset_t mask;
  cpu_set_t cores;
  size_t bytes = 0;
  volatile int result = 0;
  sigemptyset(&mask);
  sigaddset(&mask, SIGWINCH);
  pthread_attr_setsigmask_np(&attributes, &mask);
  CPU_ZERO(&cores);
  CPU_SET(sched_getcpu(), &cores);
  pthread_attr_setaffinity_np(&attributes, sizeof cores, &cores);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  create(&threads[0], &attributes, has_its_attributes, (void*)&result);
  while (result == 0) usleep(1000);
  pthread_attr_getstacksize(&attributes, &bytes);
  say("with other attributes", result == 1 && bytes == (size_t)PTHREAD_STACK_MIN);
  pthread_attr_destroy(&attributes);

  pthread_attr_init(&attributes);
  for (int i = 0; i < 8; i++) {
    pthread_attr_setstack(&attributes, with_guard((size_t)PTHREAD_STACK_MIN),
                          (size_t)PTHREAD_STACK_MIN);
    create(&threads[i], &attributes, works_on_the_least, NULL);
  }
  for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
  pthread_attr_destroy(&attributes);
  say("threads on the least memory of the program's own", 1);
}

static void check_alternate(size_t bytes, const char* what) {
  size = bytes;
  stack = with_guard(bytes);
  const stack_t alternate = {stack, 0, bytes};
  stack_t seen;
  sigaltstack(&alternate, NULL);
  sigaltstack(NULL, &seen);
  on_stack = handled = 0;
  set_handler(SIGUSR1, computes, SA_ONSTACK);
  for (int i = 0; i < 12; i++) {
    raise(SIGUSR1);
    work(2);
  }
  say(what, handled == 12 && on_stack == 12 && seen.ss_sp == stack && seen.ss_size == bytes);
}

static void* works_with_handlers(void* argument) {
  const size_t bytes = 16384;
  char* own = malloc(bytes);
  const stack_t alternate = {own, 0, bytes};
  const stack_t none = {NULL, SS_DISABLE, 0};
  sigaltstack(&alternate, NULL);
  for (int i = 0; i < 5; i++) {
    raise(SIGUSR2);
    work(2);
  }
  sigaltstack(&none, NULL);
  free(own);
  return argument;
}

static volatile sig_atomic_t others;
static void counts(int number) {
  (void)number;
  spin();
  __atomic_fetch_add(&others, 1, __ATOMIC_SEQ_CST);
}

/* argv[1]: and threads with stacks of the least size. */
int main(int count, char** arguments) {
  const size_t least = (size_t)sysconf(_SC_MINSIGSTKSZ);
  work(150);
  check_alternate(least + 512, "handlers on the least alternate stack");
  check_alternate((size_t)sysconf(_SC_SIGSTKSZ), "handlers on a usual alternate stack");
  struct sigaction seen;
  sigaction(SIGUSR1, NULL, &seen);
  int masked = 0;
  for (int number = 1; number < 32; number++) masked += sigismember(&seen.sa_mask, number) == 1;
  say("and their mask is as it was set", masked == 0);
  int overflows = 0;
  find_stack_end();
  set_handler(SIGSEGV, (void (*)(int))(void (*)(void))leaves, SA_ONSTACK | SA_SIGINFO);
  for (int i = 0; i < 5; i++) {
    handled = 0;
    if (sigsetjmp(back, 1) == 0) recurse(1);
    overflows += handled;
    work(2);
  }
  say("stack overflows are caught", overflows == 5);
  set_handler(SIGSEGV, SIG_DFL, 0);
  pthread_t threads[8];
  if (count > 1 && arguments[1] != NULL) check_least();
  set_handler(SIGUSR2, counts, SA_ONSTACK);
  for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, works_with_handlers, NULL);
  for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
  say("threads with handlers of their own", others == 40);
  return 0;
}
