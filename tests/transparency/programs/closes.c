/* Closes every descriptor that it has not opened, opens many files, and finds its own in them at
 * the end. */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "transparency.h"

enum { kFiles = 700 };
static int files[kFiles];

static void at_the_end(void) {
  work(20);
  int wrong = 0;
  for (int i = 0; i < kFiles; i++) {
    char text[8] = "";
    struct stat about;
    if (fstat(files[i], &about) != 0 || pread(files[i], text, 7, 0) != 7) wrong++;
  }
  say("all files are open until the end", wrong == 0);
}

static void* works(void* argument) {
  work(30);
  return argument;
}

int main(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < 2000 && limit.rlim_max >= 2000) {
    limit.rlim_cur = 2000;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  work(150);
  for (int descriptor = 3; descriptor < 2000; descriptor++) close(descriptor);
  for (int i = 0; i < kFiles; i++) {
    files[i] = open("file", O_RDWR | O_CREAT, 0600);
    if (i == 0 && write(files[i], "written", 7) != 7) return 1;
    if (files[i] != 3 + i) {
      say("descriptors are the lowest free", 0);
      break;
    }
  }
  atexit(at_the_end);
  work(100);
  for (int round = 0; round < 5; round++) {
    pthread_t thread;
    pthread_create(&thread, NULL, works, NULL);
    pthread_join(thread, NULL);
  }
  return 0;
}
