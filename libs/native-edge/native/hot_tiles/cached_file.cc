#include "cached_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace {
// From linux/openat2.h, which older headers lack. An old kernel (openat2: 5.6, RESOLVE_CACHED: 5.12) or a seccomp filter may refuse
// the call.
struct OpenHow {
  uint64_t flags, mode, resolve;
};
constexpr uint64_t kResolveCached = 0x20;
constexpr long kOpenat2 = 437;

// From linux/mman.h, which older headers lack.
struct CachestatRange {
  uint64_t offset, length;
};
struct Cachestat {
  uint64_t cached, dirty, written_back, evicted, recently_evicted;
};
constexpr long kCachestat = 451;

// True for file systems that Linux keeps in memory (linux/magic.h). Their reads wait only for swap, and need no RWF_NOWAIT.
bool is_in_memory(int fd) {
  struct statfs info;
  if (fstatfs(fd, &info)) return false;
  const auto type = static_cast<uint32_t>(info.f_type);
  return type == 0x01021994 /* tmpfs */ || type == 0x858458F6 /* ramfs */;
}

Cached examine(char *target, size_t capacity, CachedFile &file) {
  if (fstat(file.fd, &file.stat)) return Cached::NotNow;
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file.fd);
  const ssize_t n = readlink(link, file.real_path, sizeof file.real_path);
  if (n <= 0 || static_cast<size_t>(n) >= sizeof file.real_path) return Cached::NotNow;
  file.real_path_size = static_cast<size_t>(n);
  const auto size = static_cast<uint64_t>(file.stat.st_size);
  if (!S_ISREG(file.stat.st_mode) || size > capacity) return Cached::Done;
  file.is_read = true;
  return read_cached(file.fd, 0, target, static_cast<size_t>(size));
}
}  // namespace

Cached open_cached(const char *path, char *target, size_t capacity, CachedFile &file) {
  // O_NONBLOCK and O_NOCTTY as everywhere: a FIFO must not block the process, and a terminal must not become its controlling one.
  OpenHow how{O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0, kResolveCached};
  file.fd = static_cast<int>(syscall(kOpenat2, AT_FDCWD, path, &how, sizeof how));
  // The cache also holds negative entries. All other errors are left to the blocking open.
  if (file.fd < 0) return errno == ENOENT || errno == ENOTDIR ? Cached::Absent : Cached::NotNow;
  const Cached outcome = examine(target, capacity, file);
  if (outcome != Cached::Done || file.is_read || !S_ISREG(file.stat.st_mode)) {
    close(file.fd);
    file.fd = -1;
  }
  return outcome;
}

bool is_known_cached(int fd, off_t offset, size_t length) {
  static const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const auto from = static_cast<uint64_t>(offset);
  CachestatRange range{from, length};
  Cachestat found;
  const uint64_t pages = (from + length - 1) / page - from / page + 1;
  return length && !syscall(kCachestat, fd, &range, &found, 0) && found.cached >= pages;
}

Cached read_cached(int fd, off_t offset, const iovec *into, int count) {
  size_t length = 0;
  for (int i = 0; i < count; i++) length += into[i].iov_len;
  ssize_t n = length ? preadv2(fd, into, count, offset, RWF_NOWAIT) : 0;
  if (n < 0 && errno == EOPNOTSUPP && is_in_memory(fd)) n = preadv(fd, into, count, offset);
  // After a shorter read, the rest is on the disk, or the file was cut.
  return n == static_cast<ssize_t>(length) ? Cached::Done : Cached::NotNow;
}

Cached read_cached(int fd, off_t offset, char *target, size_t length) {
  const iovec into{target, length};
  return read_cached(fd, offset, &into, 1);
}
