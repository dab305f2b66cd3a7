/* Compression and checksum of DUMP: from one buffer into another, and of a buffer. */
#include <stddef.h>

#include "../twice.h"

unsigned int __real_lzf_compress(const void* in, size_t length, void* out, size_t space);
unsigned int __wrap_lzf_compress(const void* in, size_t length, void* out, size_t space);
uint64_t __real_crc64(uint64_t crc, const unsigned char* in, uint64_t length);
uint64_t __wrap_crc64(uint64_t crc, const unsigned char* in, uint64_t length);

unsigned int __wrap_lzf_compress(const void* in, size_t length, void* out, size_t space) {
  unsigned int written;
  TWICE("compress", __real_lzf_compress(in, length, out, space),
        written = __real_lzf_compress(in, length, out, space));
  return written;
}

uint64_t __wrap_crc64(uint64_t crc, const unsigned char* in, uint64_t length) {
  uint64_t result;
  TWICE("checksum", __real_crc64(crc, in, length), result = __real_crc64(crc, in, length));
  twice_unit();
  return result;
}
