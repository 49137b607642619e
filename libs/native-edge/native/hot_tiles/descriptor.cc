#include "descriptor.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace {
// Limit: each descriptor costs about 1 KB of kernel memory, and no measured load gains from more.
constexpr size_t kMostForTiles = 16'384;

// Node raises the soft limit to the hard one when it starts, before the addon is loaded.
size_t limit() {
  static const size_t found = [] {
    rlimit files;
    return getrlimit(RLIMIT_NOFILE, &files) ? size_t{1024} : static_cast<size_t>(files.rlim_cur);
  }();
  return found;
}
}  // namespace

Descriptor::~Descriptor() {
  if (fd >= 0) close(fd);
}

std::shared_ptr<const Descriptor> Descriptor::copy_of(int fd) {
  const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  return copy < 0 ? nullptr : std::make_shared<const Descriptor>(copy);
}

size_t Descriptor::most_for_tiles() { return std::min(limit() / 4, kMostForTiles); }

bool Descriptor::leaves_few(int fd) { return static_cast<size_t>(fd) >= limit() - limit() / 8; }
