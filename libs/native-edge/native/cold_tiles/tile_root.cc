#include "tile_root.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <unordered_map>

namespace {
// From linux/openat2.h, which older headers lack.
struct OpenHow {
  uint64_t flags, mode, resolve;
};
constexpr uint64_t kResolveBeneath = 0x08, kResolveCached = 0x20;
constexpr long kOpenat2 = 437;

// Interval in ms at which the root's path is resolved again, because an operator may have pointed a link to the next
// delivery.
constexpr int64_t kLookAgainMs = 250;

int openat2(int directory, const char *path, uint64_t flags, uint64_t resolve) {
  const OpenHow how{flags | O_CLOEXEC, 0, resolve};
  const long fd = syscall(kOpenat2, directory, path, &how, sizeof how);
  return fd < 0 ? -errno : static_cast<int>(fd);
}
}  // namespace

bool has_openat2() {
  static const bool has = [] {
    const int fd = openat2(AT_FDCWD, "/", O_PATH | O_DIRECTORY, kResolveCached);
    if (fd >= 0) close(fd);
    return fd >= 0;
  }();
  return has;
}

std::shared_ptr<TileRoot> TileRoot::at(const std::string &path) {
  static std::unordered_map<std::string, std::weak_ptr<TileRoot>> roots;
  std::weak_ptr<TileRoot> &known = roots[path];
  std::shared_ptr<TileRoot> root = known.lock();
  if (!root) known = root = std::make_shared<TileRoot>(path);
  return root;
}

void TileRoot::close_it() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

void TileRoot::look_again(int64_t now) {
  close_it();
  fd_ = openat2(AT_FDCWD, path_.c_str(), O_PATH | O_DIRECTORY, kResolveCached);
  look_again_at_ = now + kLookAgainMs;
}

int TileRoot::open(const char *path, int64_t now) {
  if (now >= look_again_at_) look_again(now);
  if (fd_ < 0) return -EAGAIN;
  // O_NONBLOCK and O_NOCTTY as everywhere: a FIFO must not block the process, and a terminal must not become its
  // controlling one.
  return openat2(fd_, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, kResolveBeneath | kResolveCached);
}

int TileRoot::look_for_folder(const char *path) const {
  const int found = fd_ < 0 ? -EAGAIN : openat2(fd_, path, O_PATH | O_DIRECTORY, kResolveBeneath | kResolveCached);
  if (found < 0) return found;
  close(found);
  return 0;
}
