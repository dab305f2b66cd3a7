/* Operations with identities of 40 names, and regions of two names more than there is room for.
 *
 * many_names SECONDS */
#include <coz.h>
#include <stdio.h>

#include "until.h"

#define OPERATIONS 40
#define REGIONS 258

static size_t begins[OPERATIONS];
static size_t ends[OPERATIONS];
static size_t regions[REGIONS];
static char names[OPERATIONS][32];

static void prepare(void) {
  for (int i = 0; i < OPERATIONS; ++i) {
    begins[i] = ends[i] = COZ_SITE_NEW_;
    snprintf(names[i], sizeof names[i], "operation %d", i);
  }
  char name[32];
  for (int i = 0; i < REGIONS; ++i) {
    regions[i] = COZ_SITE_NEW_;
    snprintf(name, sizeof name, "region %d", i);
    coz_region_(&regions[i], name);
  }
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const Until end = until(argv[1]);
  prepare();
  volatile long work = 0;
  while (!is_over(&end)) {
    for (int i = 0; i < OPERATIONS; ++i) {
      coz_visit_operation_(&begins[i], begins[i], COZ_KIND_BEGIN_, names[i], 1);
      for (long j = 0; j < 20000; ++j) work = work + j;
      coz_visit_operation_(&ends[i], ends[i], COZ_KIND_END_, names[i], 1);
    }
    COZ_PROGRESS_NAMED("round");
  }
  return 0;
}
