#include "residency.h"

#include <errno.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

namespace {
// One byte in each of these is asked for: the kernel reads ahead in units of this order, so what is missing is missing in
// stretches like it. A missed smaller gap costs one short wait.
constexpr size_t kStride = 512 * 1024;
constexpr size_t kReadSize = 128 * 1024;

// File systems of other machines, where a read can take as long as the network likes (linux/magic.h, fs/*/super.c).
bool is_remote(int file) {
  struct statfs info;
  if (fstatfs(file, &info)) return true;
  switch (static_cast<uint32_t>(info.f_type)) {
    case 0x6969:      // NFS
    case 0xFF534D42:  // CIFS
    case 0xFE534D42:  // SMB2
    case 0x517B:      // SMB
    case 0x65735546:  // FUSE
    case 0x01021997:  // 9P
    case 0x00C36400:  // Ceph
      return true;
    default:
      return false;
  }
}
}  // namespace

Residency residency(int file, off_t offset, size_t length) {
  char byte;
  const iovec target{&byte, 1};
  for (size_t at = 0; at < length;) {
    // RWF_NOWAIT: EAGAIN instead of a read from the disk.
    if (preadv2(file, &target, 1, offset + static_cast<off_t>(at), RWF_NOWAIT) < 0) {
      if (errno == EAGAIN) return Residency::Cold;
      // A file system that cannot tell (tmpfs, some overlays, all network ones).
      if (errno == EOPNOTSUPP) return is_remote(file) ? Residency::Cold : Residency::InMemory;
      return Residency::InMemory;  // sendfile will meet the same error and report it
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
