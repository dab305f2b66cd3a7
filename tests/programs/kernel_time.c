/* Half of the time in the kernel: kernel_time SECONDS (read | write | faults). Between the calls
 * there is a short one that takes hardly any time. Prints the share of the long ones by the
 * thread's clock. Rounds vary in length: those of a period exactly would keep step with the
 * samples. */
#include <coz.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SIZE (1 << 20)

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void compute(double seconds) {
  const double end = now(CLOCK_THREAD_CPUTIME_ID) + seconds;
  do {
    for (long i = 0; i < 20000; ++i) __asm__ volatile("" : "+r"(i)); /* COMPUTE */
  } while (now(CLOCK_THREAD_CPUTIME_ID) < end);
}

static void ask_kernel_by_read(int zeros, char* buffer, int times) {
  for (int i = 0; i < times; ++i) {
    if (read(zeros, buffer, SIZE) != SIZE) abort(); /* READ */
  }
}

static void ask_kernel_by_write(int file, char* buffer, int times) {
  for (int i = 0; i < times; ++i) {
    if (pwrite(file, buffer, SIZE, 0) != SIZE) abort(); /* WRITE */
  }
}

/* Each page is new to the process whenever it is touched. */
static void ask_kernel_by_faults(volatile char* memory, int times) {
  for (int i = 0; i < times; ++i) {
    /* clang-format off */
    for (size_t j = 0; j <= SIZE; j += 4096) j < SIZE ? (memory[j] = 1) : madvise((void*)memory, SIZE, MADV_DONTNEED); /* FAULTS */
    /* clang-format on */
  }
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int zeros = open("/dev/zero", O_RDONLY);
  char* const buffer = malloc(SIZE);
  FILE* const file = tmpfile();
  char* const memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (zeros < 0 || buffer == NULL || file == NULL || memory == MAP_FAILED) return 2;
  memset(buffer, 1, SIZE);
  const double end = now(CLOCK_MONOTONIC) + atof(argv[1]);
  double in_kernel = 0;
  const double start = now(CLOCK_THREAD_CPUTIME_ID);
  while (now(CLOCK_MONOTONIC) < end) {
    const int times = 2 + (int)(random() % 11);
    const double before = now(CLOCK_THREAD_CPUTIME_ID);
    if (strcmp(argv[2], "write") == 0) {
      ask_kernel_by_write(fileno(file), buffer, times);
    } else if (strcmp(argv[2], "faults") == 0) {
      ask_kernel_by_faults(memory, times);
    } else {
      ask_kernel_by_read(zeros, buffer, times);
    }
    const double took = now(CLOCK_THREAD_CPUTIME_ID) - before;
    in_kernel += took;
    compute(took / 2);
    if (read(zeros, buffer, 1) != 1) abort(); /* SHORT */
    compute(took / 2);
    COZ_PROGRESS_NAMED("round");
  }
  printf("%.3f\n", in_kernel / (now(CLOCK_THREAD_CPUTIME_ID) - start));
  return 0;
}
