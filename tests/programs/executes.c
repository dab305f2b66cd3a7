/* Starts programs that work for it.
 *   executes SECONDS PROGRAM
 * Two processes execute PROGRAM, which takes jobs from its standard input. Prints how many there
 * were, and exits with 7. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coz.h"
#include "until.h"

#define WORKERS 2

int main(int count, char** words) {
  if (count < 3) return 2;
  const Until end = until(words[1]);
  int jobs[2];
  if (pipe2(jobs, O_CLOEXEC) != 0 || fcntl(jobs[1], F_SETPIPE_SZ, 4096) < 0) return 1;
  for (int i = 0; i < WORKERS; i++) {
    if (fork() != 0) continue;
    dup2(jobs[0], STDIN_FILENO);
    execl(words[2], words[2], (char*)NULL);
    _exit(1);
  }
  close(jobs[0]);
  long written = 0;
  for (; !is_over(&end); written++) {
    if (write(jobs[1], "j", 1) != 1) return 1;
  }
  close(jobs[1]);
  int status = 0, failed = 0;
  while (wait(&status) > 0) failed += status != 0;
  printf("%ld rounds\n", written);
  return failed == 0 ? 7 : 1;
}
