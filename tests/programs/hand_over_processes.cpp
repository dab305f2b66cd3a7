// Two processes, one of which always waits for the other: main computes in the marked line, its
// child is woken at the end of that by the means that the argument names: a file (pipe, socketpair,
// tcp, unix), then how the child waits for it (read, poll, epoll; write: main makes room by
// reading). Whatever delays main causes in the line, the child has waited through, so it need never
// pause.
//
// Or "end": main starts a process that computes, and waits for its end (read: of what it could
// write; poll: of that, too; sigsuspend).
//
// Prints how often a round the process that waits gave up the processor in waiting more than the
// once that waiting needs.
#include <coz.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "loopback.h"

namespace {

constexpr int kRounds = 400;

struct Shared {
  sem_t begun;
  sem_t done;
  long pauses;
};

__attribute__((noinline)) void compute() {
  for (long i = 0; i < 8'000'000; ++i) asm volatile("" : "+r"(i));
}

long given_up() {
  rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

// The child reads from the first end.
void make(std::string_view kind, int ends[2]) {
  if (kind == "pipe") {
    if (pipe(ends) != 0) abort();
  } else if (kind == "socketpair") {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) abort();
  } else {
    const Loopback loopback(kind == "unix" ? AF_UNIX : AF_INET);
    ends[1] = loopback.connect_to();
    ends[0] = loopback.accept_one();
  }
}

constexpr std::size_t kLarge = 17 * 4096;  // a page more than a pipe holds
char large[kLarge];

void wait_at(std::string_view way, int file, int epoll) {
  if (way == "write") {
    if (write(file, large, kLarge) != kLarge) abort();
    return;
  }
  if (way == "poll") {
    pollfd input = {file, POLLIN, 0};
    poll(&input, 1, -1);
  } else if (way == "epoll") {
    epoll_event found;
    epoll_wait(epoll, &found, 1, -1);
  }
  char byte;
  if (read(file, &byte, 1) != 1) abort();
}

void take_turns(Shared& shared, std::string_view way, int file) {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  epoll_event wanted = {EPOLLIN, {}};
  epoll_ctl(epoll, EPOLL_CTL_ADD, file, &wanted);
  for (int round = 0; round < kRounds; ++round) {
    sem_wait(&shared.begun);
    const long before = given_up();
    wait_at(way, file, epoll);
    sem_post(&shared.done);
    const long times = given_up() - before;
    if (times > 1) shared.pauses += times - 1;
  }
}

void wake_at(std::string_view way, int file) {
  if (way != "write") {
    if (write(file, "x", 1) != 1) abort();
    return;
  }
  for (std::size_t left = kLarge; left > 0;) {
    const ssize_t taken = read(file, large, left);
    if (taken <= 0) abort();
    left -= static_cast<std::size_t>(taken);
  }
}

void wait_for_end(std::string_view way, int file) {
  if (way == "sigsuspend") {
    sigset_t none;
    sigemptyset(&none);
    sigsuspend(&none);
    return;
  }
  pollfd ended = {file, 0, 0};
  if (way == "poll") poll(&ended, 1, -1);
  char byte;
  if (read(file, &byte, 1) != 0) abort();
}

long wait_for_ends(std::string_view way) {
  if (way == "sigsuspend") {
    struct sigaction action{};
    action.sa_handler = [](int) {};
    sigaction(SIGCHLD, &action, nullptr);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, nullptr);
  }
  long pauses = 0;
  for (int round = 0; round < kRounds; ++round) {
    int ends[2];
    if (pipe(ends) != 0) abort();
    const pid_t worker = fork();
    if (worker == 0) {
      usleep(500);  // main waits by then
      compute();
      exit(0);
    }
    close(ends[1]);
    const long before = given_up();
    wait_for_end(way, ends[0]);
    const long times = given_up() - before;
    if (times > 1) pauses += times - 1;
    close(ends[0]);
    if (waitpid(worker, nullptr, 0) != worker) abort();
    COZ_PROGRESS;
  }
  return pauses;
}

void print(long pauses) { std::printf("%.3f\n", static_cast<double>(pauses) / kRounds); }

}  // namespace

int main(int, char** arguments) {
  if (arguments[1] == std::string_view("end")) {
    print(wait_for_ends(arguments[2]));
    return 0;
  }
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  auto& shared = *static_cast<Shared*>(memory);
  sem_init(&shared.begun, 1, 0);
  sem_init(&shared.done, 1, 0);
  int ends[2];
  make(arguments[1], ends);
  if (fork() == 0) {
    take_turns(shared, arguments[2], ends[arguments[2] == std::string_view("write")]);
    _exit(0);
  }
  for (int round = 0; round < kRounds; ++round) {
    sem_post(&shared.begun);
    usleep(500);  // the child waits by then, and owes nothing for the way there
    compute();
    wake_at(arguments[2], ends[arguments[2] != std::string_view("write")]);
    sem_wait(&shared.done);
    COZ_PROGRESS;
  }
  int status = 0;
  if (wait(&status) < 0 || status != 0) return 1;
  print(shared.pauses);
  return 0;
}
