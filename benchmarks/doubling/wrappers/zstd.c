/* Literals are decoded from one buffer into another, with a table that each call writes anew. The
 * checksum's state is what its function changes, so that the additional run works on a copy. */
#include <stddef.h>

#define XXH_STATIC_LINKING_ONLY
#include "../twice.h"
#include "common/xxhash.h"

typedef uint32_t table_t;

size_t __real_HUF_decompress4X_hufOnly_wksp(table_t* table, void* out, size_t space, const void* in,
                                            size_t length, void* work, size_t work_size, int flags);
size_t __wrap_HUF_decompress4X_hufOnly_wksp(table_t* table, void* out, size_t space, const void* in,
                                            size_t length, void* work, size_t work_size, int flags);
XXH_errorcode __real_ZSTD_XXH64_update(XXH64_state_t* state, const void* in, size_t length);
XXH_errorcode __wrap_ZSTD_XXH64_update(XXH64_state_t* state, const void* in, size_t length);

size_t __wrap_HUF_decompress4X_hufOnly_wksp(table_t* table, void* out, size_t space, const void* in,
                                            size_t length, void* work, size_t work_size,
                                            int flags) {
  size_t result;
  TWICE("literals",
        __real_HUF_decompress4X_hufOnly_wksp(table, out, space, in, length, work, work_size, flags),
        result = __real_HUF_decompress4X_hufOnly_wksp(table, out, space, in, length, work,
                                                      work_size, flags));
  return result;
}

XXH_errorcode __wrap_ZSTD_XXH64_update(XXH64_state_t* state, const void* in, size_t length) {
  XXH_errorcode result;
  XXH64_state_t copy = *state;
  TWICE("checksum", __real_ZSTD_XXH64_update(&copy, in, length),
        result = __real_ZSTD_XXH64_update(state, in, length));
  twice_unit();
  return result;
}
