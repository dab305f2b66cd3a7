// A block is read and unpacked into memory of its own, which the additional run gives back.
#include "leveldb/options.h"
#include "leveldb/status.h"
#include "table/format.h"

#include "../twice.h"

#define READ_BLOCK(prefix) \
  prefix##_ZN7leveldb9ReadBlockEPNS_16RandomAccessFileERKNS_11ReadOptionsERKNS_11BlockHandleEPNS_13BlockContentsE

using leveldb::BlockContents;
using leveldb::BlockHandle;
using leveldb::RandomAccessFile;
using leveldb::ReadOptions;
using leveldb::Status;

extern "C" {
Status READ_BLOCK(__real_)(RandomAccessFile* file, const ReadOptions& options,
                           const BlockHandle& handle, BlockContents* contents);

Status READ_BLOCK(__wrap_)(RandomAccessFile* file, const ReadOptions& options,
                           const BlockHandle& handle, BlockContents* contents) {
  const auto again = [&] {
    BlockContents copy;
    const Status status = READ_BLOCK(__real_)(file, options, handle, &copy);
    if (status.ok() && copy.heap_allocated) delete[] copy.data.data();
  };
  Status status;
  TWICE("read", again(), status = READ_BLOCK(__real_)(file, options, handle, contents));
  twice_unit();
  return status;
}
}
