/* A producer and a consumer with a bounded queue between them, in C. An item is in progress from
 * the moment it is made until it is consumed: a latency point, by COZ_BEGIN and COZ_END.
 *
 * queue [SECONDS] */
#include <coz.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CAPACITY 16
#define PRODUCE_STEPS 90000
#define CONSUME_STEPS 100000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
static unsigned long queue[CAPACITY];
static size_t head, length;
static bool finished;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static unsigned long produce(unsigned long seed) {
  for (int i = 0; i < PRODUCE_STEPS; i++)
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
  return seed;
}

static unsigned long consume(unsigned long sum, unsigned long item) {
  for (int i = 0; i < CONSUME_STEPS; i++) sum = (sum ^ item) * 6364136223846793005UL + 1UL;
  return sum;
}

static void* consumer(void* result) {
  unsigned long sum = 0;
  for (;;) {
    pthread_mutex_lock(&lock);
    while (length == 0 && !finished) pthread_cond_wait(&not_empty, &lock);
    if (length == 0) {
      pthread_mutex_unlock(&lock);
      break;
    }
    const unsigned long item = queue[head];
    head = (head + 1) % CAPACITY;
    length--;
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&lock);
    sum = consume(sum, item);
    COZ_END("item");
  }
  *(unsigned long*)result = sum;
  return NULL;
}

int main(int argc, char** argv) {
  const double end = now() + (argc > 1 ? atof(argv[1]) : 60.0);
  unsigned long sum = 0;
  unsigned long item = 1;
  unsigned long items = 0;
  pthread_t thread;
  if (pthread_create(&thread, NULL, consumer, &sum) != 0) return 1;
  while (now() < end) {
    COZ_BEGIN("item");
    item = produce(item);
    pthread_mutex_lock(&lock);
    while (length == CAPACITY) pthread_cond_wait(&not_full, &lock);
    queue[(head + length) % CAPACITY] = item;
    length++;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
    items++;
  }
  pthread_mutex_lock(&lock);
  finished = true;
  pthread_cond_signal(&not_empty);
  pthread_mutex_unlock(&lock);
  pthread_join(thread, NULL);
  printf("%lu items (checksum %lx)\n", items, sum);
  return 0;
}
