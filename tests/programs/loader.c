// Loads libraries with a function plugin_work() while it runs.
//
//   loader once SECONDS LIBRARY
//     after a third of the time (the processor's); visits "work"
//   loader soon SECONDS LIBRARY
//     after half a second
//   loader churn TIMES THREADS LIBRARY...
//     each in turn, loaded, called and unloaded, while other threads run
//   loader replaced TIMES LIBRARY
//     unloads it, and runs other code at its addresses, as long
//   loader forks TIMES LIBRARY
//     children, one after the other, each of which loads it
//   loader held SECONDS
//     ends while it holds the loader's lock
#define _GNU_SOURCE
#include <coz.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Processor time, which is what samples count: on a busy machine, too.
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static __attribute__((noinline)) void own_work(void) {
  for (long i = 0; i < 60000; ++i) __asm__ volatile("" : "+r"(i));  // OWN
}

static void* load(const char* library, void (**work)(void)) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    puts(dlerror());
    exit(1);
  }
  *work = (void (*)(void))dlsym(handle, "plugin_work");
  return handle;
}

static int once(double seconds, double until_loaded, const char* library) {
  const double start = now();
  while (now() < start + until_loaded) {
    own_work();
    COZ_PROGRESS_NAMED("work");
  }
  void (*work)(void);
  load(library, &work);
  while (now() < start + seconds) {
    work();
    own_work();
    COZ_PROGRESS_NAMED("work");
  }
  return 0;
}

static int done;

static void* run_beside(void* unused) {
  (void)unused;
  while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) own_work();
  return NULL;
}

static int churn(int times, int threads, char** libraries) {
  pthread_t beside[16];
  for (int i = 0; i < threads; ++i) pthread_create(&beside[i], NULL, run_beside, NULL);
  void (*work)(void);
  // Time for each to be noticed, on a busy machine too, without work that would be missed.
  for (char** library = libraries; *library != NULL; ++library) {
    void* handle = load(*library, &work);
    sleep(2);
    dlclose(handle);
  }
  char** library = libraries;
  for (int i = 0; i < times; ++i) {
    void* handle = load(*library, &work);
    for (int n = 0; n < 50; ++n) work();
    dlclose(handle);
    if (*++library == NULL) library = libraries;
    COZ_PROGRESS_NAMED("load");
  }
  __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < threads; ++i) pthread_join(beside[i], NULL);
  return 0;
}

static void* page_of(void* address) { return (void*)((size_t)address & ~(size_t)4095); }

static int replaced(int times, const char* library) {
  void (*work)(void);
  void* handle = load(library, &work);
  usleep(500000);
  dlclose(handle);
  for (int i = 0; i < times; ++i) {
    handle = load(library, &work);
    void (*spin)(long) = (void (*)(long))dlsym(handle, "spin");
    void* page = page_of((void*)spin);
    char code[4096];
    memcpy(code, page, sizeof code);
    for (int n = 0; n < 100; ++n) spin(60000);
    dlclose(handle);
    void* other = mmap(page, sizeof code, PROT_READ | PROT_WRITE | PROT_EXEC,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (other != page) return 3;
    memcpy(other, code, sizeof code);
    for (int n = 0; n < 100; ++n) spin(60000);
    munmap(other, sizeof code);
    COZ_PROGRESS_NAMED("round");
  }
  return 0;
}

#ifdef SLOW_LISTING
// For threads that the program did not make, the profiler's, a listing takes some milliseconds, in
// which the loader's lock is held.
typedef int (*Visit)(struct dl_phdr_info*, size_t, void*);
typedef int (*List)(Visit, void*);

struct Slow {
  Visit visit;
  void* data;
  int visited;
};

static int visit_slowly(struct dl_phdr_info* info, size_t size, void* data) {
  struct Slow* slow = data;
  if (!slow->visited) usleep(5000);
  slow->visited = 1;
  return slow->visit(info, size, slow->data);
}

int dl_iterate_phdr(Visit visit, void* data) {
  const List list = (List)dlsym(RTLD_NEXT, "dl_iterate_phdr");
  if (gettid() == getpid()) return list(visit, data);
  struct Slow slow = {visit, data, 0};
  return list(visit_slowly, &slow);
}
#endif

static int open_descriptors(void) {
  int open = 0;
  for (int i = 0; i < 1024; ++i) open += fcntl(i, F_GETFD) != -1;
  return open;
}

static int forks(int times, const char* library) {
  const int before = open_descriptors();
  int good = 0;
  for (int i = 0; i < times; ++i) {
    void (*work)(void);
    dlclose(load(library, &work));
    usleep(1000U * (i % 23));  // at all moments between two looks of the profiler
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      load(library, &work);
      work();
      _exit(open_descriptors() > before);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) ++good;
  }
  printf("%d of %d children\n", good, times);
  return 0;
}

// What they get is the program's, and nobody else may send it.
static int sockets(double seconds, const char* library) {
  int ends[2];
  int found = 0;
  usleep(500000);  // what is loaded at the start has been asked for
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) return 3;
  for (int i = 3; i < 1024; ++i) {
    struct stat status;
    if (i == ends[0] || i == ends[1] || fstat(i, &status) != 0 || !S_ISSOCK(status.st_mode))
      continue;
    dup2(ends[0], i);
    ++found;
  }
  printf("sockets: %d\n", found);
  const int status = once(seconds, seconds / 3, library);
  char text[100];
  const ssize_t length = recv(ends[1], text, sizeof text, MSG_DONTWAIT);
  printf("strange bytes: %zd\n", length < 0 ? 0 : length);
  return status;
}

static int end_here(struct dl_phdr_info* info, size_t size, void* seconds) {
  (void)info;
  (void)size;
  const double start = now();
  while (now() < start + *(double*)seconds) {
    own_work();
    COZ_PROGRESS_NAMED("work");
  }
  exit(7);
}

int main(int count, char** arguments) {
  const char* mode = count > 2 ? arguments[1] : "";
  const double number = count > 2 ? atof(arguments[2]) : 0;
  if (!strcmp(mode, "once")) return once(number, number / 3, arguments[3]);
  if (!strcmp(mode, "soon")) return once(number, 0.5, arguments[3]);
  if (!strcmp(mode, "churn")) return churn((int)number, atoi(arguments[3]), arguments + 4);
  if (!strcmp(mode, "replaced")) return replaced((int)number, arguments[3]);
  if (!strcmp(mode, "forks")) return forks((int)number, arguments[3]);
  if (!strcmp(mode, "sockets")) return sockets(number, arguments[3]);
  if (!strcmp(mode, "held")) return dl_iterate_phdr(end_here, (void*)&number);
  return 2;
}
