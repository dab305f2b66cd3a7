/* A block is compressed from one buffer into another, from scratch, and so are the other calls. */
#include <libdeflate.h>

#include "../twice.h"

size_t __real_libdeflate_deflate_compress(struct libdeflate_compressor* z, const void* in,
                                          size_t length, void* out, size_t space);
size_t __wrap_libdeflate_deflate_compress(struct libdeflate_compressor* z, const void* in,
                                          size_t length, void* out, size_t space);
enum libdeflate_result __real_libdeflate_deflate_decompress(struct libdeflate_decompressor* z,
                                                            const void* in, size_t length,
                                                            void* out, size_t space,
                                                            size_t* written);
enum libdeflate_result __wrap_libdeflate_deflate_decompress(struct libdeflate_decompressor* z,
                                                            const void* in, size_t length,
                                                            void* out, size_t space,
                                                            size_t* written);

size_t __wrap_libdeflate_deflate_compress(struct libdeflate_compressor* z, const void* in,
                                          size_t length, void* out, size_t space) {
  size_t written;
  TWICE("deflate", __real_libdeflate_deflate_compress(z, in, length, out, space),
        written = __real_libdeflate_deflate_compress(z, in, length, out, space));
  twice_unit();
  return written;
}

enum libdeflate_result __wrap_libdeflate_deflate_decompress(struct libdeflate_decompressor* z,
                                                            const void* in, size_t length,
                                                            void* out, size_t space,
                                                            size_t* written) {
  enum libdeflate_result result;
  TWICE("inflate", __real_libdeflate_deflate_decompress(z, in, length, out, space, written),
        result = __real_libdeflate_deflate_decompress(z, in, length, out, space, written));
  twice_unit();
  return result;
}
