/* A block is compressed from one buffer into another, from scratch. */
#include <zstd.h>

#include "../twice.h"

size_t __real_ZSTD_compressCCtx(ZSTD_CCtx* context, void* out, size_t space, const void* in,
                                size_t length, int level);
size_t __wrap_ZSTD_compressCCtx(ZSTD_CCtx* context, void* out, size_t space, const void* in,
                                size_t length, int level);

size_t __wrap_ZSTD_compressCCtx(ZSTD_CCtx* context, void* out, size_t space, const void* in,
                                size_t length, int level) {
  size_t written;
  TWICE("compress", __real_ZSTD_compressCCtx(context, out, space, in, length, level),
        written = __real_ZSTD_compressCCtx(context, out, space, in, length, level));
  twice_unit();
  return written;
}
