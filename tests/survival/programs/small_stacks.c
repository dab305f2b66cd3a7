/* Handlers on alternate stacks of the least size, and threads with stacks of the least size, which
 * compute. */
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include "survival.h"

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

__attribute__((noinline)) static int recurse(int depth) {
  volatile char room[3000];
  room[0] = (char)depth;
  return depth < 0 ? 0 : recurse(depth + 1) + room[0];
}

static void* works_on_the_least(void* argument) {
  work(20);
  return argument;
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
  static __thread char own[16384];
  const stack_t alternate = {own, 0, sizeof own};
  sigaltstack(&alternate, NULL);
  for (int i = 0; i < 5; i++) {
    raise(SIGUSR2);
    work(2);
  }
  return argument;
}

static volatile sig_atomic_t others;
static void counts(int number) {
  (void)number;
  spin();
  __atomic_fetch_add(&others, 1, __ATOMIC_SEQ_CST);
}

/* argv[1]: only that threads live on the least stack. */
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
  set_handler(SIGSEGV, (void (*)(int))(void (*)(void))leaves, SA_ONSTACK | SA_SIGINFO);
  for (int i = 0; i < 5; i++) {
    handled = 0;
    if (sigsetjmp(back, 1) == 0) recurse(1);
    overflows += handled;
    work(2);
  }
  say("stack overflows are caught", overflows == 5);
  set_handler(SIGSEGV, SIG_DFL, 0);
  pthread_attr_t attributes;
  pthread_t threads[8];
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN);
  if (count > 1 && arguments[1] != NULL) {
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], &attributes, works_on_the_least, NULL);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    say("threads with the least stack", 1);
  }
  set_handler(SIGUSR2, counts, SA_ONSTACK);
  for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, works_with_handlers, NULL);
  for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
  say("threads with handlers of their own", others == 40);
  return 0;
}
