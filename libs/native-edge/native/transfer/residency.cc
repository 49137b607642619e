#include "residency.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "../hot_tiles/cached_file.h"

namespace {
// One byte in each of these is asked for: the kernel reads ahead in units of this order, so what is missing is missing in
// stretches like it. A missed smaller gap costs one short wait.
constexpr size_t kStride = 512 * 1024;
constexpr size_t kReadSize = 128 * 1024;
}  // namespace

Residency residency(int file, off_t offset, size_t length) {
  // In one call, and without a look at the bytes, which would have to come from memory.
  if (is_known_cached(file, offset, length)) return Residency::InMemory;
  char byte;
  const iovec target{&byte, 1};
  for (size_t at = 0; at < length;) {
    // RWF_NOWAIT: EAGAIN instead of a read from the disk.
    if (preadv2(file, &target, 1, offset + static_cast<off_t>(at), RWF_NOWAIT) < 0) {
      if (errno == EAGAIN) return Residency::Cold;
      // EOPNOTSUPP: a file system that cannot tell. Those of other machines are not sent by sendfile (SendOptions.remote); of the rest,
      // tmpfs and some overlays, files are taken to be in memory. Any other error sendfile will meet and report.
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
