// One of two ranks that meet after each round, by memory that they share: joint FILE SECONDS
//
// OMPI_COMM_WORLD_RANK says which. Rank 0 runs `small`, rank 1 meanwhile `large`, three times as
// long. Rank 0 prints the number of rounds.
#include <coz.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

struct Meeting {
  std::atomic<unsigned long> arrived[2];
  std::atomic<bool> is_over;
};

[[gnu::noinline]] void small(long turns) {
  for (long i = turns; i > 0; --i) asm volatile("" : "+r"(i));  // LINE small
}

[[gnu::noinline]] void large(long turns) {
  for (long i = turns; i > 0; --i) asm volatile("# large" : "+r"(i));  // LINE large
}

void meet(Meeting& meeting, int rank, unsigned long round) {
  COZ_CATCH_UP;
  meeting.arrived[rank].store(round);
  COZ_PRE_BLOCK;
  while (meeting.arrived[1 - rank].load() < round && !meeting.is_over.load()) {
  }
  COZ_POST_BLOCK(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int rank = std::atoi(std::getenv("OMPI_COMM_WORLD_RANK"));
  const int file = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(Meeting)) != 0) return 1;
  void* memory = mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return 1;
  auto& meeting = *static_cast<Meeting*>(memory);
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(std::atof(argv[2]));
  unsigned long round = 0;
  while (!meeting.is_over.load()) {
    if (rank == 0) small(900'000);
    if (rank == 1) large(2'700'000);
    meet(meeting, rank, ++round);
    COZ_PROGRESS_NAMED("round");
    if (rank == 0 && std::chrono::steady_clock::now() >= end) meeting.is_over.store(true);
  }
  if (rank == 0) std::printf("%lu\n", round);
  return 0;
}
