/* Uses every way to allocate, in threads and children, and checks what blocks hold. It prints where
   some lie. heap_user [THREADS] [ROUNDS] */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEPT = 400 };
static int rounds = 20000;

static uint64_t next(uint64_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static size_t some_size(uint64_t number) {
  switch (number % 16) {
    case 0:
      return number / 16 % 300000;
    case 1:
      return 65536 + number / 16 % 8192;
    case 2:
      return 0;
    default:
      return number / 16 % 1100;
  }
}

static void fill(unsigned char* block, size_t bytes, unsigned char with) {
  assert(malloc_usable_size(block) >= bytes);
  memset(block, with, bytes);
}

static void check(const unsigned char* block, size_t bytes, unsigned char with) {
  for (size_t i = 0; i < bytes; i++) assert(block[i] == with);
}

static unsigned char* allocate(uint64_t number, size_t bytes) {
  unsigned char* block = NULL;
  switch (number % 8) {
    case 0:
      block = calloc(bytes / 8 + 1, 8);
      check(block, bytes, 0);
      break;
    case 1: {
      const size_t alignment = (size_t)16 << number / 8 % 9;
      assert(posix_memalign((void**)&block, alignment, bytes) == 0);
      assert((uintptr_t)block % alignment == 0);
      break;
    }
    case 2:
      block = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
      assert((uintptr_t)block % 64 == 0);
      break;
    case 3:
      block = memalign(4096, bytes);
      break;
    case 4:
      block = reallocarray(NULL, bytes + 1, 1);
      break;
    default:
      block = malloc(bytes);
  }
  assert(block != NULL);
  assert((uintptr_t)block % (malloc_usable_size(block) < 16 ? 8 : 16) == 0);
  return block;
}

static void* work(void* argument) {
  uint64_t state = (uint64_t)(uintptr_t)argument * 2654435761u + 88172645463325252u;
  unsigned char* kept[KEPT] = {0};
  size_t sizes[KEPT] = {0};
  for (int round = 0; round < rounds; round++) {
    const uint64_t number = next(&state);
    const int i = (int)(number >> 40) % KEPT;
    const unsigned char with = (unsigned char)i;
    check(kept[i], kept[i] ? sizes[i] : 0, with);
    const size_t bytes = some_size(number);
    if (kept[i] && number % 3 == 0 && bytes > 0) {
      kept[i] = realloc(kept[i], bytes);
      assert(kept[i] != NULL);
      check(kept[i], bytes < sizes[i] ? bytes : sizes[i], with);
    } else {
      errno = 77;
      free(kept[i]);
      assert(errno == 77);
      kept[i] = allocate(number >> 8, bytes);
    }
    fill(kept[i], bytes, with);
    sizes[i] = bytes;
  }
  for (int i = 0; i < KEPT; i++) free(kept[i]);
  return NULL;
}

static void* where_is_my_stack(void* argument) {
  char here;
  *(uintptr_t*)argument = (uintptr_t)__builtin_frame_address(0) + (here = 0);
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 3;
  if (argc > 2) rounds = atoi(argv[2]);
  volatile size_t huge = SIZE_MAX / 2 + 5;
  errno = 0;
  assert(malloc(huge) == NULL && errno == ENOMEM);
  assert(calloc(huge, 4) == NULL && reallocarray(NULL, huge, 4) == NULL);
  assert(malloc_usable_size(NULL) == 0);
  pthread_t ids[64];
  for (int i = 0; i < threads; i++) pthread_create(&ids[i], NULL, work, (void*)(uintptr_t)i);
  for (int i = 0; i < 4; i++) {
    const pid_t child = fork();
    if (child == 0) {
      rounds = rounds < 2000 ? rounds : 2000;
      work((void*)(uintptr_t)(100 + i));
      _exit(0);
    }
    int status = 1;
    assert(waitpid(child, &status, 0) == child && status == 0);
  }
  work((void*)99);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);

  printf("big");
  for (int i = 0; i < 6; i++) printf(" %zu", (size_t)malloc(1 << 20) % 4096);
  printf("\nsmall");
  uintptr_t before = 0;
  for (int i = 0; i < 12; i++) {
    const uintptr_t block = (uintptr_t)malloc(700);
    printf(" %td", (intptr_t)(block - before));
    before = block;
  }
  unsigned char* dirty = malloc(500);
  memset(dirty, 7, 500);
  free(dirty);
  int zeros = 1;
  for (int i = 0; i < 300; i++) {
    // Blocks of the same size class, by each way to allocate them.
    unsigned char* block = i % 3 == 0 ? malloc(500) : memalign(i % 3 == 1 ? 64 : 16, 500);
    for (int j = 0; j < 500; j++) zeros &= block[j] == 0;
    memset(block, 7, 500);
    if (i % 2) free(block);
  }
  printf("\nzeros %d\nmain %zu\nstacks", zeros, (size_t)__builtin_frame_address(0) % 4096);
  for (int i = 0; i < 6; i++) {
    uintptr_t stack = 0;
    pthread_create(&ids[0], NULL, where_is_my_stack, &stack);
    pthread_join(ids[0], NULL);
    printf(" %zu", (size_t)stack % 4096);
  }
  printf("\n");
  return 0;
}
