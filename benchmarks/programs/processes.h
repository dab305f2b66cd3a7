// What ground-truth programs of several processes share. The first process counts the visits and
// ends; the others end when their pipe does, or when they are told to.
#ifndef BENCHMARKS_PROGRAMS_PROCESSES_H
#define BENCHMARKS_PROGRAMS_PROCESSES_H

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "ground_truth.h"

namespace ground_truth {

// An object in memory that processes share which are forked later.
template <typename Object>
Object& shared() {
  void* memory =
      mmap(nullptr, sizeof(Object), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail("no memory for", "processes");
  return *new (memory) Object;
}

// A job says how long its work is: slices change that in the first process. A pipe of one page
// holds eight of them.
struct Job {
  long length = 0;
  char rest[504] = {};
};

class Pipe {
 public:
  Pipe() {
    constexpr int kPage = 4096;
    if (pipe2(ends_, O_CLOEXEC) != 0 || fcntl(ends_[1], F_SETPIPE_SZ, kPage) < 0) {
      fail("no pipe for", "processes");
    }
  }
  void send(long length) const {
    const Job job{length, {}};
    if (write(ends_[1], &job, sizeof job) != sizeof job) _exit(0);
  }
  // Ends the process if nobody sends any more.
  long receive() const {
    Job job;
    if (read(ends_[0], &job, sizeof job) != sizeof job) _exit(0);
    return job.length;
  }
  void only_receive() const { close(ends_[1]); }
  void only_send() const { close(ends_[0]); }

 private:
  int ends_[2] = {};
};

// Through a socket. Both end the process if the other end has ended.
inline void send_length(int end, long length) {
  if (send(end, &length, sizeof length, MSG_NOSIGNAL) != sizeof length) _exit(0);
}
inline long receive_length(int end) {
  long length = 0;
  if (recv(end, &length, sizeof length, 0) != sizeof length) _exit(0);
  return length;
}

// `work` runs in a process of its own.
template <typename Work>
void start_process(Work work) {
  const pid_t process = fork();
  if (process < 0) fail("no process for", "work");
  if (process != 0) return;
  work();
  _exit(0);
}

}  // namespace ground_truth

#endif  // BENCHMARKS_PROGRAMS_PROCESSES_H
