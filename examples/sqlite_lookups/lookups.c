/* Threads look rows up by key in one database, through a connection that they share, and compute a
 * checksum of each row, ROUNDS times.
 *
 * lookups FILE [SECONDS [THREADS [ROUNDS]]]
 *
 * FILE is made anew, and removed at the end.
 */
#include <coz.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sqlite3.h"

#define MAX_THREADS 64
#define ROWS 20000
#define SIZE 1024 /* bytes of a row */

static double end_time;
static const char* path;
static int rounds = 1;

struct reader {
  pthread_t thread;
  unsigned int number;
  sqlite3* connection;
  unsigned long rows;
  unsigned int sum;
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void check(int result, int expected, sqlite3* connection) {
  if (result == expected) return;
  fprintf(stderr, "lookups: %s\n", sqlite3_errmsg(connection));
  unlink(path);
  exit(1);
}

static void execute(sqlite3* connection, const char* sql) {
  check(sqlite3_exec(connection, sql, NULL, NULL, NULL), SQLITE_OK, connection);
}

/* One transaction lasts to the end, so that reading takes no file locks. */
static sqlite3* open_connection(void) {
  sqlite3* connection;
  check(sqlite3_open(path, &connection), SQLITE_OK, connection);
  execute(connection, "PRAGMA cache_size = -100000; BEGIN; SELECT count(*) FROM item");
  return connection;
}

static void make_database(void) {
  unlink(path);
  sqlite3* connection;
  check(sqlite3_open(path, &connection), SQLITE_OK, connection);
  execute(connection,
          "PRAGMA synchronous = OFF; CREATE TABLE item (id INTEGER PRIMARY KEY, data BLOB)");
  char sql[200];
  snprintf(sql, sizeof sql,
           "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
           "INSERT INTO item SELECT i, randomblob(%d) FROM n",
           ROWS, SIZE);
  execute(connection, sql);
  sqlite3_close(connection);
}

static unsigned int add(const unsigned char* data, unsigned int sum) {
  for (int i = 0; i < SIZE; i++) sum = (sum ^ data[i]) * 16777619u;
  return sum;
}

static void* read_rows(void* argument) {
  struct reader* reader = argument;
  sqlite3* connection = reader->connection;
  sqlite3_stmt* look_up;
  unsigned int random = 12345u + reader->number;
  unsigned char data[SIZE];
  check(sqlite3_prepare_v2(connection, "SELECT data FROM item WHERE id = ?", -1, &look_up, NULL),
        SQLITE_OK, connection);

  while (now() < end_time) {
    random = random * 1103515245u + 12345u;
    sqlite3_bind_int(look_up, 1, (int)((random >> 8) % ROWS) + 1);
    check(sqlite3_step(look_up), SQLITE_ROW, connection);
    memcpy(data, sqlite3_column_blob(look_up, 0), SIZE);
    sqlite3_reset(look_up);
    for (int i = 0; i < rounds; i++) reader->sum = add(data, reader->sum);
    reader->rows++;
    COZ_PROGRESS_NAMED("row");
  }
  sqlite3_finalize(look_up);
  return NULL;
}

int main(int argc, char** argv) {
  const double seconds = argc > 2 ? atof(argv[2]) : 60.0;
  const int threads = argc > 3 ? atoi(argv[3]) : 2;
  if (argc > 4) rounds = atoi(argv[4]);
  if (argc < 2 || seconds <= 0 || threads < 1 || threads > MAX_THREADS || rounds < 1) {
    fprintf(stderr, "usage: lookups FILE [SECONDS [THREADS [ROUNDS]]]    (1 to %d threads)\n",
            MAX_THREADS);
    return 2;
  }
  path = argv[1];
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); /* threads would wait for its lock, too */
  make_database();

  static struct reader readers[MAX_THREADS];
  sqlite3* shared = open_connection();
  for (int i = 0; i < threads; i++) readers[i].connection = shared;
  const double begin = now();
  end_time = begin + seconds;
  for (int i = 0; i < threads; i++) {
    readers[i].number = (unsigned int)i;
    if (pthread_create(&readers[i].thread, NULL, read_rows, &readers[i]) != 0) return 1;
  }
  unsigned long rows = 0;
  unsigned int sum = 0;
  for (int i = 0; i < threads; i++) {
    pthread_join(readers[i].thread, NULL);
    rows += readers[i].rows;
    sum ^= readers[i].sum;
  }
  printf("%lu rows in %.3f s by %d threads, checksum %08x\n", rows, now() - begin, threads, sum);
  for (int i = 0; i < threads; i++) {
    if (i == 0 || readers[i].connection != readers[0].connection) {
      sqlite3_close(readers[i].connection);
    }
  }
  unlink(path);
  return 0;
}
