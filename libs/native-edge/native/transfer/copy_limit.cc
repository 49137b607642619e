#include "copy_limit.h"

#include <arpa/inet.h>
#include <errno.h>
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
constexpr size_t kSizeCount = sizeof kSizes / sizeof *kSizes;
static_assert(kSizes[0] == kLeastByReference);
// Number of rounds whose median counts, so that a round interrupted by another process does not.
constexpr int kRounds = 5;
constexpr size_t kHead = 512;
// Size of the memory of all bodies: more than a processor's own caches hold, since a tile out of thousands is seldom in them.
constexpr size_t kRegion = 4 << 20, kPage = 4096;
// Number of connections that each round answers before any of them reads. A single connection would copy into memory that the processor has just used
// for the previous response, at half the cost of the memory that a server with many clients uses.
constexpr size_t kConnections = 32;

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
    connect_all();
  }
  ~Trial() {
    if (memory_) munmap(memory_, kRegion);
    close(file_);
    for (const int fd : senders_) close(fd);
    for (const int fd : readers_) close(fd);
  }
  bool is_ready() const { return senders_.size() == kConnections; }

  // Returns the nanoseconds of a round, or -1.
  int64_t copied(size_t size) {
    return round(size, [&](int sender) {
      iovec parts[] = {{head_, kHead}, {memory_ + next(size), size}};
      msghdr message{};
      message.msg_iov = parts;
      message.msg_iovlen = 2;
      return sendmsg(sender, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(kHead + size);
    });
  }
  int64_t referred(size_t size) {
    return round(size, [&](int sender) {
      off_t offset = static_cast<off_t>(next(size));
      return send(sender, head_, kHead, MSG_MORE | MSG_NOSIGNAL | MSG_DONTWAIT) == kHead &&
             sendfile(sender, file_, &offset, size) == static_cast<ssize_t>(size);
    });
  }

 private:
  void connect_all() {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto *const name = reinterpret_cast<sockaddr *>(&address);
    bool ok = !bind(listener, name, size) && !listen(listener, 1) && !getsockname(listener, name, &size);
    while (ok && senders_.size() < kConnections) {
      const int reader = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      ok = reader >= 0;
      if (!ok) break;
      readers_.push_back(reader);
      const int sender = connect(reader, name, size) ? -1 : accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      const int on = 1;
      ok = sender >= 0;
      if (!ok) break;
      senders_.push_back(sender);
      setsockopt(sender, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    close(listener);
  }
  size_t next(size_t size) {
    const size_t at = at_ + size <= kRegion ? at_ : 0;
    at_ = at + (size + kPage - 1) / kPage * kPage;
    return at;
  }
  template <typename Send>
  int64_t round(size_t size, Send send_to) {
    bool ok = true;
    const int64_t begun = now_ns();
    for (const int sender : senders_) ok = ok && send_to(sender);
    const int64_t time = now_ns() - begun;
    for (const int reader : readers_) ok = ok && drain(reader, kHead + size);
    return ok ? time : -1;
  }
  static bool drain(int reader, size_t bytes) {
    constexpr int patience_ms = 100;
    while (bytes) {
      // MSG_TRUNC makes the kernel discard the bytes.
      const ssize_t n = recv(reader, nullptr, bytes, MSG_TRUNC | MSG_DONTWAIT);
      pollfd readable{reader, POLLIN, 0};
      if (n > 0) bytes -= static_cast<size_t>(n);
      else if (n == 0 || errno != EAGAIN || poll(&readable, 1, patience_ms) != 1) return false;
    }
    return true;
  }

  const int file_;
  std::vector<int> senders_, readers_;
  char *memory_ = nullptr;
  char head_[kHead] = {};
  size_t at_ = 0;
};
}  // namespace

void measure_copy_limit(const char *file) {
  Trial trial(file);
  if (!trial.is_ready()) return;
  // Total costs of all sizes, by the index of the first size that is sent by reference. The sum keeps a single disturbed size from deciding.
  int64_t costs[kSizeCount + 1] = {};
  for (size_t at = 0; at < kSizeCount; at++) {
    std::vector<int64_t> copied, referred;
    for (int i = 0; i < kRounds; i++) {
      copied.push_back(trial.copied(kSizes[at]));
      referred.push_back(trial.referred(kSizes[at]));
      if (copied.back() < 0 || referred.back() < 0) return;
    }
    for (size_t first = 0; first <= kSizeCount; first++) costs[first] += first > at ? median(copied) : median(referred);
  }
  const auto best = static_cast<size_t>(std::min_element(costs, costs + kSizeCount + 1) - costs);
  copy_limit = best < kSizeCount ? kSizes[best] : kMostCopied + 1;
}
