/* Children by vfork, posix_spawn, system and popen, while another thread computes. argv[1]: which.
 */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include "transparency.h"

extern char** environ;
static volatile int over;

static void* computes(void* argument) {
  while (!over) work(1);
  return argument;
}

static void by_vfork(int round) {
  pid_t child = vfork();
  if (child == 0) _exit(round);
  say_end("_exit after vfork", child);
  work(3);
  child = vfork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "exit 7", (char*)NULL);
    _exit(127);
  }
  say_end("exec after vfork", child);
  child = vfork();
  if (child == 0) {
    /* Changes its own signals, not its parent's. */
    signal(SIGTRAP, SIG_IGN);
    signal(SIGSTKFLT, SIG_IGN);
    execl("/no/such/program", "x", (char*)NULL);
    _exit(126);
  }
  say_end("exec of nothing after vfork", child);
  struct sigaction now;
  sigaction(SIGTRAP, NULL, &now);
  say("the parent's SIGTRAP is as it was", now.sa_handler == SIG_DFL);
  sigaction(SIGSTKFLT, NULL, &now);
  say("the parent's SIGSTKFLT is as it was", now.sa_handler == SIG_DFL);
}

static void by_posix_spawn(void) {
  char* arguments[] = {"sh", "-c", "echo spawned; exit 4", NULL};
  posix_spawnattr_t attributes;
  sigset_t none;
  pid_t child;
  posix_spawnattr_init(&attributes);
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  if (posix_spawn(&child, "/bin/sh", NULL, &attributes, arguments, environ) != 0) abort();
  say_end("posix_spawn", child);
  say("posix_spawn of nothing fails",
      posix_spawn(&child, "/no/such/program", NULL, NULL, arguments, environ) != 0);
}

static void by_shell(void) {
  char text[64] = "";
  const int status = system("exit 6");
  say("system", WIFEXITED(status) && WEXITSTATUS(status) == 6);
  FILE* reader = popen("echo one; kill -9 $$", "r");
  say("popen reads", fgets(text, sizeof text, reader) != NULL && strcmp(text, "one\n") == 0);
  const int ended = pclose(reader);
  say("pclose tells the signal", WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL);
  FILE* writer = popen("cat", "w");
  fputs("written by popen\n", writer);
  say("pclose", pclose(writer) == 0);
}

int main(int count, char** arguments) {
  pthread_t thread;
  if (count != 2) return 2;
  pthread_create(&thread, NULL, computes, NULL);
  for (int round = 0; round < 15; round++) {
    work(5);
    if (strcmp(arguments[1], "vfork") == 0) by_vfork(round);
    if (strcmp(arguments[1], "posix_spawn") == 0) by_posix_spawn();
    if (strcmp(arguments[1], "shell") == 0) by_shell();
  }
  over = 1;
  pthread_join(thread, NULL);
  say("no stray children", waitpid(-1, NULL, 0) == -1);
  return 0;
}
