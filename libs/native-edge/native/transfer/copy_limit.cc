#include "copy_limit.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

size_t copy_limit = 32 * 1024;

namespace {
constexpr size_t kSizes[] = {8 * 1024, 12 * 1024, 16 * 1024, 24 * 1024, 32 * 1024, 48 * 1024};
static_assert(kSizes[0] == kLeastByReference);
// Medians of so many: one that another process has interrupted does not count.
constexpr int kRounds = 21;
constexpr size_t kHead = 512;
// Taken in turn from so much: more than a processor's own caches hold, in which a tile of thousands seldom is, and less than all share.
constexpr size_t kRegion = 4 << 20, kPage = 4096;

int64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec;
}

int64_t median(std::vector<int64_t> &times) {
  std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
  return times[kRounds / 2];
}

class Trial {
 public:
  explicit Trial(const char *path) : file_(open(path, O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) return;
    void *const memory = mmap(nullptr, kRegion, PROT_READ, MAP_SHARED | MAP_POPULATE, file_, 0);
    if (memory == MAP_FAILED) return;
    memory_ = static_cast<char *>(memory);
    connect_both();
    // The first round of each size is not the first that touches the bytes.
    for (size_t at = 0; is_ready() && at < kRegion; at += kMostCopied)
      if (copied(kMostCopied) < 0) return;
  }
  ~Trial() {
    if (memory_) munmap(memory_, kRegion);
    for (const int fd : {file_, sender_, reader_})
      if (fd >= 0) close(fd);
  }
  bool is_ready() const { return memory_ && sender_ >= 0; }

  // Nanoseconds of one answer, or -1.
  int64_t copied(size_t size) {
    const int64_t begun = now_ns();
    iovec parts[] = {{head_, kHead}, {memory_ + next(size), size}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    const bool ok = sendmsg(sender_, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(kHead + size);
    return took(begun, ok, size);
  }
  int64_t referred(size_t size) {
    off_t offset = static_cast<off_t>(next(size));
    const int64_t begun = now_ns();
    const bool ok = send(sender_, head_, kHead, MSG_MORE | MSG_NOSIGNAL | MSG_DONTWAIT) == kHead &&
                    sendfile(sender_, file_, &offset, size) == static_cast<ssize_t>(size);
    return took(begun, ok, size);
  }

 private:
  void connect_both() {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    reader_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto *const name = reinterpret_cast<sockaddr *>(&address);
    if (!bind(listener, name, size) && !listen(listener, 1) && !getsockname(listener, name, &size) && !connect(reader_, name, size))
      sender_ = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    const int on = 1;
    if (sender_ >= 0) setsockopt(sender_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (listener >= 0) close(listener);
  }
  size_t next(size_t size) {
    const size_t at = at_ + size <= kRegion ? at_ : 0;
    at_ = at + (size + kPage - 1) / kPage * kPage;
    return at;
  }
  int64_t took(int64_t begun, bool ok, size_t size) {
    const int64_t time = now_ns() - begun;
    return ok && drain(kHead + size) ? time : -1;
  }
  bool drain(size_t bytes) {
    constexpr int patience_ms = 100;
    while (bytes) {
      pollfd readable{reader_, POLLIN, 0};
      if (poll(&readable, 1, patience_ms) != 1) return false;
      // The kernel discards it.
      const ssize_t n = recv(reader_, nullptr, bytes, MSG_TRUNC | MSG_DONTWAIT);
      if (n <= 0) return false;
      bytes -= static_cast<size_t>(n);
    }
    return true;
  }

  const int file_;
  int sender_ = -1, reader_ = -1;
  char *memory_ = nullptr;
  char head_[kHead] = {};
  size_t at_ = 0;
};
}  // namespace

void measure_copy_limit(const char *file) {
  Trial trial(file);
  if (!trial.is_ready()) return;
  size_t limit = kMostCopied + 1;
  for (const size_t size : kSizes) {
    std::vector<int64_t> copied, referred;
    for (int i = 0; i < kRounds; i++) {
      copied.push_back(trial.copied(size));
      referred.push_back(trial.referred(size));
      if (copied.back() < 0 || referred.back() < 0) return;
    }
    // The smallest size from which on none is cheaper to copy.
    if (median(referred) > median(copied)) limit = kMostCopied + 1;
    else limit = std::min(limit, size);
  }
  copy_limit = limit;
}
