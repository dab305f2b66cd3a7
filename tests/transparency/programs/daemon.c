/* Becomes a daemon in the classic way, closes every descriptor, and works on; what it says comes
 * late. */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include "transparency.h"

int main(void) {
  const int out = dup(STDOUT_FILENO);
  work(200);
  printf("parent\n");
  fflush(stdout);
  if (fork() != 0) {
    /* Its own output ends with it; the daemon's copy stays open. */
    work(20);
    return 4;
  }
  setsid();
  signal(SIGHUP, SIG_IGN);
  if (fork() != 0) _exit(0);
  umask(0);
  if (chdir("/") != 0) return 1;
  dup2(out, 3);
  for (int descriptor = 0; descriptor < 2000; descriptor++) {
    if (descriptor != 3) close(descriptor);
  }
  const int null = open("/dev/null", O_RDWR);
  work(150);
  dprintf(3, "daemon: lowest descriptor %d, own session %s\n", null,
          getsid(0) != getpgid(getppid()) ? "yes" : "NO");
  return 0;
}
