/* The process becomes another program. argv[1]: a shell, itself in each of ten ways in turn, or
 * (argv[2]) a program of any kind. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include "transparency.h"

static void* computes(void* argument) {
  for (;;) work(1);
  return argument;
}

static void execute_self(char* path, int way, char* left) {
  char* const arguments[] = {path, "self", left, NULL};
  switch (way) {
    case 0:
      execl(path, path, "self", left, (char*)NULL);
      break;
    case 1:
      execlp(path, path, "self", left, (char*)NULL);
      break;
    case 2:
      execle(path, path, "self", left, (char*)NULL, environ);
      break;
    case 3:
      execv(path, arguments);
      break;
    case 4:
      execvp(path, arguments);
      break;
    case 5:
      execvpe(path, arguments, environ);
      break;
    case 6:
      execve(path, arguments, environ);
      break;
    case 7:
      fexecve(open(path, O_RDONLY | O_CLOEXEC), arguments, environ);
      break;
    case 8:
      execveat(AT_FDCWD, path, arguments, environ, 0);
      break;
    default:
      syscall(SYS_execve, path, arguments, environ);
  }
}

int main(int count, char** arguments) {
  pthread_t thread;
  if (count < 2) return 2;
  /* Blocked and ignored signals stay so beyond exec, and nothing else. */
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  signal(SIGUSR2, SIG_IGN);
  work(150);
  pthread_create(&thread, NULL, computes, NULL);
  work(20);
  setenv("TRANSPARENCY_MARK", "is there", 1);
  if (strcmp(arguments[1], "shell") == 0) {
    execl(
        "/bin/sh", "sh", "-c",
        "echo \"the mark $TRANSPARENCY_MARK\"; case $LD_PRELOAD in *libm.so.6*) echo preload "
        "kept;; "
        "esac;"
        /* By the shell itself: while it starts another program, it blocks signals for a moment. */
        "while read -r name value; do case $name in SigBlk:|SigIgn:) echo $name $value;; esac; "
        "done "
        "</proc/$$/status; ls /proc/$$/fd; exit 5",
        (char*)NULL);
  } else if (strcmp(arguments[1], "self") == 0) {
    const int left = atoi(arguments[2]);
    printf("%d to go\n", left);
    fflush(stdout);
    if (left == 0) return 6;
    char text[16];
    snprintf(text, sizeof text, "%d", left - 1);
    /* One that fails leaves everything as it was. */
    execl("/nonexistent", "nonexistent", (char*)NULL);
    work(5);
    execute_self(arguments[0], left % 10, text);
  } else if (strcmp(arguments[1], "other") == 0) {
    execl(arguments[2], arguments[2], (char*)NULL);
  } else if (strcmp(arguments[1], "child") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      execl(arguments[2], arguments[2], (char*)NULL);
      _exit(127);
    }
    say_end("child", child);
    return 0;
  }
  perror("exec");
  return 127;
}
