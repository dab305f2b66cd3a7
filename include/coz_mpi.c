/* Tells the causal profiler Coz of the waits and messages of an MPI program, by MPI's profiling
 * interface.
 *
 *   mpicc -g -O2 -I... program.c coz_mpi.c
 *   mpirun -n 4 coz run --joint --- ./a.out
 *
 * A rank that is about to send pays first what it owes, so that nobody waits for its pause; one
 * that waits for a message takes over what the sender has paid. In collective calls ranks do both.
 * Without the profiler a call costs three loads and branches more.
 *
 * Here are the usual messages, waits and collective calls. Not here: one-sided communication,
 * MPI-IO, matched probes, large counts (MPI_..._c), calls on neighbourhoods, those that make
 * communicators, and non-blocking collective calls, whose MPI_Wait is. MPI_Test and the like do not
 * wait; a program that calls them in a loop in order to wait can say so by COZ_PRE_BLOCK and
 * COZ_POST_BLOCK(1). Programs in Fortran call MPI past this file. What runs after MPI_Finalize is
 * not profiled.
 */
#include <coz.h>
#include <mpi.h>

#define WAITING(call)  \
  do {                 \
    int coz_result;    \
    COZ_CATCH_UP;      \
    COZ_PRE_BLOCK;     \
    coz_result = call; \
    COZ_POST_BLOCK(1); \
    return coz_result; \
  } while (0)

#define SENDING(call) \
  do {                \
    COZ_CATCH_UP;     \
    return call;      \
  } while (0)

int MPI_Send(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm ranks) {
  WAITING(PMPI_Send(buffer, count, type, to, tag, ranks));
}
int MPI_Ssend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm ranks) {
  WAITING(PMPI_Ssend(buffer, count, type, to, tag, ranks));
}
int MPI_Rsend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm ranks) {
  SENDING(PMPI_Rsend(buffer, count, type, to, tag, ranks));
}
int MPI_Bsend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm ranks) {
  SENDING(PMPI_Bsend(buffer, count, type, to, tag, ranks));
}
int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm ranks,
              MPI_Request* request) {
  SENDING(PMPI_Isend(buffer, count, type, to, tag, ranks, request));
}
int MPI_Issend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm ranks,
               MPI_Request* request) {
  SENDING(PMPI_Issend(buffer, count, type, to, tag, ranks, request));
}
int MPI_Irsend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm ranks,
               MPI_Request* request) {
  SENDING(PMPI_Irsend(buffer, count, type, to, tag, ranks, request));
}
int MPI_Ibsend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm ranks,
               MPI_Request* request) {
  SENDING(PMPI_Ibsend(buffer, count, type, to, tag, ranks, request));
}
int MPI_Start(MPI_Request* request) { SENDING(PMPI_Start(request)); }
int MPI_Startall(int count, MPI_Request requests[]) { SENDING(PMPI_Startall(count, requests)); }
int MPI_Recv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm ranks,
             MPI_Status* status) {
  WAITING(PMPI_Recv(buffer, count, type, from, tag, ranks, status));
}
int MPI_Sendrecv(const void* sent, int sent_count, MPI_Datatype sent_type, int to, int sent_tag,
                 void* received, int count, MPI_Datatype type, int from, int tag, MPI_Comm ranks,
                 MPI_Status* status) {
  WAITING(PMPI_Sendrecv(sent, sent_count, sent_type, to, sent_tag, received, count, type, from, tag,
                        ranks, status));
}
int MPI_Sendrecv_replace(void* buffer, int count, MPI_Datatype type, int to, int sent_tag, int from,
                         int tag, MPI_Comm ranks, MPI_Status* status) {
  WAITING(PMPI_Sendrecv_replace(buffer, count, type, to, sent_tag, from, tag, ranks, status));
}
int MPI_Probe(int from, int tag, MPI_Comm ranks, MPI_Status* status) {
  WAITING(PMPI_Probe(from, tag, ranks, status));
}
int MPI_Wait(MPI_Request* request, MPI_Status* status) { WAITING(PMPI_Wait(request, status)); }
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  WAITING(PMPI_Waitall(count, requests, statuses));
}
int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  WAITING(PMPI_Waitany(count, requests, index, status));
}
int MPI_Waitsome(int count, MPI_Request requests[], int* done, int indices[],
                 MPI_Status statuses[]) {
  WAITING(PMPI_Waitsome(count, requests, done, indices, statuses));
}

/* Threads of MPI's own have slept all the time, and would pay for all of it when they are woken. */
int MPI_Finalize(void) {
  COZ_CALL_("_coz_end", coz_call_t, ());
  return PMPI_Finalize();
}

int MPI_Barrier(MPI_Comm ranks) { WAITING(PMPI_Barrier(ranks)); }
int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm ranks) {
  WAITING(PMPI_Bcast(buffer, count, type, root, ranks));
}
int MPI_Reduce(const void* sent, void* received, int count, MPI_Datatype type, MPI_Op operation,
               int root, MPI_Comm ranks) {
  WAITING(PMPI_Reduce(sent, received, count, type, operation, root, ranks));
}
int MPI_Allreduce(const void* sent, void* received, int count, MPI_Datatype type, MPI_Op operation,
                  MPI_Comm ranks) {
  WAITING(PMPI_Allreduce(sent, received, count, type, operation, ranks));
}
int MPI_Reduce_scatter_block(const void* sent, void* received, int count, MPI_Datatype type,
                             MPI_Op operation, MPI_Comm ranks) {
  WAITING(PMPI_Reduce_scatter_block(sent, received, count, type, operation, ranks));
}
int MPI_Reduce_scatter(const void* sent, void* received, const int counts[], MPI_Datatype type,
                       MPI_Op operation, MPI_Comm ranks) {
  WAITING(PMPI_Reduce_scatter(sent, received, counts, type, operation, ranks));
}
int MPI_Scan(const void* sent, void* received, int count, MPI_Datatype type, MPI_Op operation,
             MPI_Comm ranks) {
  WAITING(PMPI_Scan(sent, received, count, type, operation, ranks));
}
int MPI_Exscan(const void* sent, void* received, int count, MPI_Datatype type, MPI_Op operation,
               MPI_Comm ranks) {
  WAITING(PMPI_Exscan(sent, received, count, type, operation, ranks));
}
int MPI_Gather(const void* sent, int sent_count, MPI_Datatype sent_type, void* received, int count,
               MPI_Datatype type, int root, MPI_Comm ranks) {
  WAITING(PMPI_Gather(sent, sent_count, sent_type, received, count, type, root, ranks));
}
int MPI_Gatherv(const void* sent, int sent_count, MPI_Datatype sent_type, void* received,
                const int counts[], const int places[], MPI_Datatype type, int root,
                MPI_Comm ranks) {
  WAITING(PMPI_Gatherv(sent, sent_count, sent_type, received, counts, places, type, root, ranks));
}
int MPI_Scatter(const void* sent, int sent_count, MPI_Datatype sent_type, void* received, int count,
                MPI_Datatype type, int root, MPI_Comm ranks) {
  WAITING(PMPI_Scatter(sent, sent_count, sent_type, received, count, type, root, ranks));
}
int MPI_Scatterv(const void* sent, const int counts[], const int places[], MPI_Datatype sent_type,
                 void* received, int count, MPI_Datatype type, int root, MPI_Comm ranks) {
  WAITING(PMPI_Scatterv(sent, counts, places, sent_type, received, count, type, root, ranks));
}
int MPI_Allgather(const void* sent, int sent_count, MPI_Datatype sent_type, void* received,
                  int count, MPI_Datatype type, MPI_Comm ranks) {
  WAITING(PMPI_Allgather(sent, sent_count, sent_type, received, count, type, ranks));
}
int MPI_Allgatherv(const void* sent, int sent_count, MPI_Datatype sent_type, void* received,
                   const int counts[], const int places[], MPI_Datatype type, MPI_Comm ranks) {
  WAITING(PMPI_Allgatherv(sent, sent_count, sent_type, received, counts, places, type, ranks));
}
int MPI_Alltoall(const void* sent, int sent_count, MPI_Datatype sent_type, void* received,
                 int count, MPI_Datatype type, MPI_Comm ranks) {
  WAITING(PMPI_Alltoall(sent, sent_count, sent_type, received, count, type, ranks));
}
int MPI_Alltoallv(const void* sent, const int sent_counts[], const int sent_places[],
                  MPI_Datatype sent_type, void* received, const int counts[], const int places[],
                  MPI_Datatype type, MPI_Comm ranks) {
  WAITING(PMPI_Alltoallv(sent, sent_counts, sent_places, sent_type, received, counts, places, type,
                         ranks));
}
int MPI_Alltoallw(const void* sent, const int sent_counts[], const int sent_places[],
                  const MPI_Datatype sent_types[], void* received, const int counts[],
                  const int places[], const MPI_Datatype types[], MPI_Comm ranks) {
  WAITING(PMPI_Alltoallw(sent, sent_counts, sent_places, sent_types, received, counts, places,
                         types, ranks));
}
