/* Threads, each with a database of its own, insert rows by SQL text: like a server that keeps one
 * in-memory database for each session. The sessions share no data; what they share is the library.
 *
 * sqlite_sessions [SECONDS [THREADS]]
 */
#include <coz.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sqlite3.h"

#define MAX_THREADS 64
#define ROWS_KEPT 20000 /* a table is emptied when it has so many rows, to keep memory bounded */

static double end_time;

struct session {
  pthread_t thread;
  int number;
  unsigned long rows;
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void execute(sqlite3* database, const char* sql) {
  if (sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK) return;
  fprintf(stderr, "sqlite_sessions: %s: %s\n", sql, sqlite3_errmsg(database));
  exit(1);
}

static void* serve(void* argument) {
  struct session* session = argument;
  sqlite3* database;
  unsigned int random = 12345u + (unsigned int)session->number;
  if (sqlite3_open(":memory:", &database) != SQLITE_OK) exit(1);
  execute(database, "CREATE TABLE event (id INTEGER PRIMARY KEY, k INTEGER, payload TEXT)");

  while (now() < end_time) {
    char sql[200];
    random = random * 1103515245u + 12345u;
    snprintf(sql, sizeof sql, "INSERT INTO event (k, payload) VALUES (%u, 'row %lu of session %d')",
             random >> 4, session->rows, session->number);
    execute(database, sql);
    session->rows++;
    COZ_PROGRESS_NAMED("insert");
    if (session->rows % ROWS_KEPT == 0) execute(database, "DELETE FROM event");
  }
  sqlite3_close(database);
  return NULL;
}

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 60.0;
  const int threads = argc > 2 ? atoi(argv[2]) : 2;
  if (seconds <= 0 || threads < 1 || threads > MAX_THREADS) {
    fprintf(stderr, "usage: sqlite_sessions [SECONDS [THREADS]]    (1 to %d threads)\n",
            MAX_THREADS);
    return 2;
  }
  sqlite3_initialize();

  static struct session sessions[MAX_THREADS];
  const double begin = now();
  end_time = begin + seconds;
  for (int i = 0; i < threads; i++) {
    sessions[i].number = i;
    if (pthread_create(&sessions[i].thread, NULL, serve, &sessions[i]) != 0) return 1;
  }
  unsigned long rows = 0;
  for (int i = 0; i < threads; i++) {
    pthread_join(sessions[i].thread, NULL);
    rows += sessions[i].rows;
  }
  printf("%lu rows in %.3f s by %d threads, SQLite %s\n", rows, now() - begin, threads,
         sqlite3_libversion());
  return 0;
}
