/* Everything of OpenMP that we stand in for, and what is left alone: prints a number that is known.
 *   openmp_forms [ROUNDS]        or, compiled with -DPLUGIN, a library whose work(rounds) returns
 * it */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "coz.h"

static long sum_of_loops(void) {
  long sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += i;
#pragma omp parallel for schedule(dynamic, 3) reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += i;
#pragma omp parallel for schedule(guided) reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += i;
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += i;
  return sum; /* 4 * 4950 */
}

static long sum_of_teams(void) {
  long sum = 0, named = 0, sections = 0, tasks = 0;
#pragma omp parallel num_threads(3)
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 30; i++) {
#pragma omp critical
      sum += 1;
    }
#pragma omp critical(of_named)
    named += 1;
#pragma omp barrier
#pragma omp sections
    {
#pragma omp section
      {
#pragma omp atomic
        sections += 1;
      }
#pragma omp section
      {
#pragma omp atomic
        sections += 2;
      }
    }
  }
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 10; i++) {
#pragma omp task shared(tasks)
    {
#pragma omp atomic
      tasks += 1;
    }
  }
  long reduced = 0;
#pragma omp parallel num_threads(2) reduction(task, + : reduced)
  reduced += 0;
  tasks += reduced;
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2) /* of one thread each, unless nesting is on */
#pragma omp atomic
  tasks += 0;
#pragma omp parallel for num_threads(5)
  for (int i = 0; i < 5; i++) {
#pragma omp atomic
    tasks += 1;
  }
  return sum + named + sections + tasks; /* 30 + 3 + 3 + 10 + 5 */
}

long work(int rounds) {
  long sum = 0;
  for (int i = 0; i < rounds; i++) {
    sum += sum_of_loops() + sum_of_teams();
    for (volatile int j = 0; j < 100000; j++) { /* WORK */
    }
    COZ_PROGRESS_NAMED("round");
  }
  return sum / rounds;
}

#ifndef PLUGIN
int main(int count, char** words) {
  printf("%ld\n", work(count > 1 ? atoi(words[1]) : 1000));
  return 0;
}
#endif
