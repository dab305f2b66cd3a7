/* crowd ALIVE SHORT: so many threads that are there at the same time, then so many that end at
 * once, one after the other. Each does a little work and counts; the sum says whether all ran.
 * Those that stay wait for a signal: thousands that look now and then would keep the machine busy.
 * Where no more threads can be had, it goes on with those it has, and says how many. */
#include <coz.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_int ran;
static int released;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t release = PTHREAD_COND_INITIALIZER;

static void work(void) {
  for (volatile int i = 0; i < 2000; i = i + 1) {
  }
  COZ_PROGRESS_NAMED("ran");
  ran++;
}

static void* stay(void* unused) {
  work();
  pthread_mutex_lock(&lock);
  while (!released) pthread_cond_wait(&release, &lock);
  pthread_mutex_unlock(&lock);
  return unused;
}

static void* pass(void* unused) {
  work();
  return unused;
}

int main(int argc, char** argv) {
  const int alive = argc > 1 ? atoi(argv[1]) : 0, brief = argc > 2 ? atoi(argv[2]) : 0;
  pthread_t* threads = calloc((size_t)alive + 1, sizeof *threads);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  int begun = 0;
  while (begun < alive && pthread_create(&threads[begun], &attributes, stay, NULL) == 0) ++begun;
  while (ran < begun) usleep(1000);
  pthread_mutex_lock(&lock);
  released = 1;
  pthread_cond_broadcast(&release);
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < begun; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < brief; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, pass, NULL) != 0) return 3;
    pthread_join(thread, NULL);
  }
  printf("threads: %d\n", ran);
  return begun == alive ? 0 : 4;
}
