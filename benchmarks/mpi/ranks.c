/* Two ranks with unequal work, whose lines can really be shortened: ranks KIND SECONDS FIRST SECOND
 *
 * FIRST, SECOND: microseconds of work in `first` and `second`. KIND says what a round is.
 *
 * halo: rank 0 runs first, rank 1 second; then they exchange what lies between them.
 *
 * master: rank 0 hands a task to rank 1 and runs first, while rank 1 runs second and answers.
 *
 * allreduce: each rank runs half of first, and rank 1 second besides; then all add up their
 * results.
 *
 * Prints the rounds and the seconds that they took, of rank 0.
 */
#include <coz.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long first_turns, second_turns;

static __attribute__((noinline)) void first(long turns) {
  for (long i = turns; i > 0; --i) __asm__ volatile("" : "+r"(i)); /* LINE first */
}

static __attribute__((noinline)) void second(long turns) {
  for (long i = turns; i > 0; --i) __asm__ volatile("# second" : "+r"(i)); /* LINE second */
}

static void halo(int rank, double* edge) {
  double other = 0;
  if (rank == 0) first(first_turns);
  if (rank == 1) second(second_turns);
  MPI_Sendrecv(edge, 1, MPI_DOUBLE, 1 - rank, 0, &other, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

static void master(int rank, double* task) {
  if (rank == 0) {
    MPI_Send(task, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    first(first_turns);
    MPI_Recv(task, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(task, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    second(second_turns);
    MPI_Send(task, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
  }
}

static void allreduce(int rank, double* part) {
  double sum = 0;
  first(first_turns / 2);
  if (rank == 1) second(second_turns);
  MPI_Allreduce(part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  const long turns_per_microsecond = 3000;
  int rank = 0, goes_on = 1;
  long rounds = 0;
  double value = 1;
  if (argc != 5) return fprintf(stderr, "usage: ranks KIND SECONDS FIRST SECOND\n"), 2;
  first_turns = (long)(atof(argv[3]) * (double)turns_per_microsecond);
  second_turns = (long)(atof(argv[4]) * (double)turns_per_microsecond);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double start = MPI_Wtime();
  while (goes_on) {
    for (int i = 0; i < 50; ++i) {
      if (strcmp(argv[1], "halo") == 0) halo(rank, &value);
      if (strcmp(argv[1], "master") == 0) master(rank, &value);
      if (strcmp(argv[1], "allreduce") == 0) allreduce(rank, &value);
      ++rounds;
      COZ_PROGRESS_NAMED("round");
    }
    goes_on = MPI_Wtime() - start < atof(argv[2]);
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("rounds %ld seconds %f\n", rounds, MPI_Wtime() - start);
  MPI_Finalize();
  return 0;
}
