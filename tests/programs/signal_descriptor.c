// Reads signals from a descriptor:
//
//   signal_descriptor trap | stkflt | usr1 | both | all
//     of SIGTRAP, SIGSTKFLT, SIGUSR1, both of the former, all signals; twice, as servers do that
//     change the set
//
// SIGUSR1 is in each set: it has to come, whatever becomes of the others.
#define _GNU_SOURCE
#include <coz.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

int main(int count, char** arguments) {
  const char* which = count > 1 ? arguments[1] : "";
  sigset_t set;
  sigemptyset(&set);
  if (!strcmp(which, "all")) sigfillset(&set);
  if (!strcmp(which, "trap") || !strcmp(which, "both")) sigaddset(&set, SIGTRAP);
  if (!strcmp(which, "stkflt") || !strcmp(which, "both")) sigaddset(&set, SIGSTKFLT);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  int descriptor = signalfd(-1, &set, SFD_CLOEXEC);
  descriptor = signalfd(descriptor, &set, SFD_CLOEXEC);
  for (volatile long i = 0; i < 50000000; ++i) {
    if (i % 1000000 == 0) COZ_PROGRESS;
  }
  kill(getpid(), SIGUSR1);
  struct signalfd_siginfo info;
  if (read(descriptor, &info, sizeof info) != sizeof info) return 1;
  printf("read %s\n", info.ssi_signo == SIGUSR1 ? "SIGUSR1" : "another");
  return 0;
}
