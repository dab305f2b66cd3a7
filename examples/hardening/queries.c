/* Rows into tables in memory, an index, joins, sums and a sort, by SQLite: a run of some 60 ms. */
#include <stdio.h>
#include <stdlib.h>

#include "sqlite3.h"

static int show(void* unused, int columns, char** values, char** names) {
  (void)unused, (void)names;
  for (int i = 0; i < columns; ++i)
    printf("%s%c", values[i] ? values[i] : "null", i + 1 < columns ? ' ' : '\n');
  return 0;
}

int main(void) {
  static const char* const steps[] = {
      "CREATE TABLE item (id INTEGER PRIMARY KEY, kind INTEGER, size INTEGER, name TEXT)",
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)"
      " INSERT INTO item SELECT i, i * 7919 % 97, i * 104729 % 10007, printf('%x', i * 16807 % "
      "65537) FROM n",
      "CREATE INDEX item_kind ON item (kind, size)",
      "SELECT count(*), sum(a.size) FROM item a JOIN item b ON a.kind = b.kind AND b.size < 60",
      "SELECT kind, count(*), max(size) FROM item WHERE name LIKE '%a%' GROUP BY kind ORDER BY 3 "
      "DESC, 1 LIMIT 3",
      "SELECT name FROM item ORDER BY name, size LIMIT 1 OFFSET 20000",
      "UPDATE item SET size = size + 1 WHERE kind % 5 = 0",
      "SELECT sum(size) FROM item",
  };
  sqlite3* database;
  if (sqlite3_open(":memory:", &database) != SQLITE_OK) return 1;
  for (size_t i = 0; i < sizeof steps / sizeof *steps; ++i) {
    char* error = NULL;
    if (sqlite3_exec(database, steps[i], show, NULL, &error) != SQLITE_OK) {
      fprintf(stderr, "%s: %s\n", steps[i], error);
      return 1;
    }
  }
  return sqlite3_close(database) != SQLITE_OK;
}
