#include "residency.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "../hot_tiles/cached_file.h"

namespace {
// Distance in bytes of the bytes that are probed. The kernel reads ahead in units of this order, so missing pages come in ranges of
// this size. A smaller gap that is not detected costs one short wait.
constexpr size_t kStride = 512 * 1024;
constexpr size_t kReadSize = 128 * 1024;
}  // namespace

Residency residency(int file, off_t offset, size_t length) {
  // One call, which does not read the bytes themselves from memory.
  if (is_known_cached(file, offset, length)) return Residency::InMemory;
  char byte;
  const iovec target{&byte, 1};
  for (size_t at = 0; at < length;) {
    // With RWF_NOWAIT the call fails with EAGAIN instead of reading from the disk.
    if (preadv2(file, &target, 1, offset + static_cast<off_t>(at), RWF_NOWAIT) < 0) {
      if (errno == EAGAIN) return Residency::Cold;
      // EOPNOTSUPP: the file system does not support the query. Files of network file systems are never sent by sendfile
      // (SendOptions.remote). On the others, tmpfs and some overlays, files are assumed to be in memory. sendfile will meet and report
      // any other error.
      return Residency::InMemory;
    }
    if (at + 1 == length) break;
    at = std::min(at + kStride, length - 1);
  }
  return Residency::InMemory;
}

void warm(int file, off_t offset, size_t length) {
  const auto buffer = std::make_unique<char[]>(kReadSize);
  while (length) {
    const ssize_t n = pread(file, buffer.get(), std::min(length, kReadSize), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    offset += n;
    length -= static_cast<size_t>(n);
  }
}
