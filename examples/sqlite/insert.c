/* Threads insert rows, each into a private table, all into one in-memory SQLite database. In theory
 * they have nothing to do with each other; in practice they share the library.
 *
 * One connection in SQLite's serialized mode is shared by all threads: that is how SQLite offers
 * one in-memory database to several threads without "database table is locked" (shared-cache mode
 * admits one writer at a time and turns the others away, so that they would spin). An insertion
 * holds the connection's mutex while it runs.
 *
 * sqlite_insert [SECONDS [THREADS]]
 */
#include <coz.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sqlite3.h"

#define MAX_THREADS 64
#define ROWS_KEPT 20000 /* a table is emptied when it has so many rows, to keep memory bounded */

static sqlite3* database;
static double end_time;

struct worker {
  pthread_t thread;
  int number;
  unsigned long rows;
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fail(const char* what) {
  fprintf(stderr, "sqlite_insert: %s: %s\n", what, sqlite3_errmsg(database));
  exit(1);
}

static void execute(const char* format, int number) {
  char sql[200];
  snprintf(sql, sizeof sql, format, number);
  if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK) fail(sql);
}

static sqlite3_stmt* prepare(const char* format, int number) {
  char sql[200];
  sqlite3_stmt* statement;
  snprintf(sql, sizeof sql, format, number);
  if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK) fail(sql);
  return statement;
}

static void* insert_rows(void* argument) {
  struct worker* worker = argument;
  sqlite3_stmt* insert = prepare("INSERT INTO t%d (k, payload) VALUES (?, ?)", worker->number);
  sqlite3_stmt* empty = prepare("DELETE FROM t%d", worker->number);
  unsigned int random = 12345u + (unsigned int)worker->number;

  while (now() < end_time) {
    char payload[100];
    random = random * 1103515245u + 12345u;
    const int length = snprintf(payload, sizeof payload, "row %lu of thread %d, %u", worker->rows,
                                worker->number, random);
    sqlite3_bind_int64(insert, 1, (sqlite3_int64)(random >> 4));
    sqlite3_bind_text(insert, 2, payload, length, SQLITE_STATIC);
    if (sqlite3_step(insert) != SQLITE_DONE) fail("insert");
    sqlite3_reset(insert);
    worker->rows++;
    COZ_PROGRESS_NAMED("insert");

    if (worker->rows % ROWS_KEPT == 0) {
      if (sqlite3_step(empty) != SQLITE_DONE) fail("delete");
      sqlite3_reset(empty);
    }
  }
  sqlite3_finalize(insert);
  sqlite3_finalize(empty);
  return NULL;
}

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 60.0;
  const int threads = argc > 2 ? atoi(argv[2]) : 2;
  if (seconds <= 0 || threads < 1 || threads > MAX_THREADS) {
    fprintf(stderr, "usage: sqlite_insert [SECONDS [THREADS]]    (1 to %d threads)\n", MAX_THREADS);
    return 2;
  }

  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
  if (sqlite3_open_v2(":memory:", &database, flags, NULL) != SQLITE_OK) fail("open");
  static struct worker workers[MAX_THREADS];
  for (int i = 0; i < threads; i++)
    execute("CREATE TABLE t%d (id INTEGER PRIMARY KEY, k INTEGER, payload TEXT)", i);

  end_time = now() + seconds;
  for (int i = 0; i < threads; i++) {
    workers[i].number = i;
    if (pthread_create(&workers[i].thread, NULL, insert_rows, &workers[i]) != 0) return 1;
  }
  unsigned long rows = 0;
  for (int i = 0; i < threads; i++) {
    pthread_join(workers[i].thread, NULL);
    rows += workers[i].rows;
  }
  sqlite3_close(database);
  printf("%lu rows in %.1f s by %d threads, SQLite %s\n", rows, seconds, threads,
         sqlite3_libversion());
  return 0;
}
