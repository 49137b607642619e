#include "layout.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <string_view>

namespace {
// LoopData and HttpResponseData have a size of 200 to 400 bytes.
constexpr size_t kMaxSearch = 512;
constexpr unsigned kCorkBufferSize = 16 * 1024;

// Bits of the response state that the stages of the probe must show.
constexpr int kStatusWritten = 1, kLengthWritten = 4, kPending = 8;

// Asks the kernel, which refuses to copy from an unmapped address, while a direct read would crash.
bool is_readable(const void *address, size_t size) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK)) return false;
  const bool ok = write(pipe_ends[1], address, size) == static_cast<ssize_t>(size);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  return ok;
}
// Returns how many bytes of the `block` that uSockets allocated follow `part` in it.
size_t size_behind(void *block, const void *part) {
  const char *end = static_cast<char *>(block) + malloc_usable_size(block);
  const auto size = static_cast<size_t>(end - static_cast<const char *>(part));
  return end > part && size < kMaxSearch ? size : kMaxSearch;
}
}  // namespace

void Layout::reset(us_loop_t *loop) {
  *this = Layout();
  loop_data_ = static_cast<char *>(us.us_loop_ext(loop));
  loop_data_size_ = size_behind(loop, loop_data_);
}

us_socket_t *Layout::corked_socket() const { return *reinterpret_cast<us_socket_t **>(loop_data_ + cork_ + 16); }
unsigned &Layout::cork_length() const { return *reinterpret_cast<unsigned *>(loop_data_ + cork_ + 8); }
char *Layout::cork_buffer() const { return *reinterpret_cast<char **>(loop_data_ + cork_); }

bool Layout::response_pending(us_socket_t *socket) const {
  return learned_ && *reinterpret_cast<int *>(static_cast<char *>(us.us_socket_ext(us.tls, socket)) + state_) & kPending;
}

// Finds {address of a buffer, 0 bytes in it, this socket}.
bool Layout::find_cork(us_socket_t *socket) {
  if (!is_readable(loop_data_, loop_data_size_)) return false;
  int found = 0;
  for (size_t at = 0; at + 24 <= loop_data_size_; at += 8) {
    const auto buffer = *reinterpret_cast<uintptr_t *>(loop_data_ + at);
    if (*reinterpret_cast<us_socket_t **>(loop_data_ + at + 16) != socket) continue;
    if (*reinterpret_cast<unsigned *>(loop_data_ + at + 8) != 0) continue;
    if (!buffer || buffer % 8 || !is_readable(reinterpret_cast<void *>(buffer), kCorkBufferSize)) continue;
    cork_ = at;
    found++;
  }
  return found == 1;
}

bool Layout::check_cork(const char *begin, const char *end) const {
  if (cork_length() > kCorkBufferSize) return false;
  const std::string_view text(cork_buffer(), cork_length()), head(begin), tail(end);
  return text.size() >= head.size() + tail.size() && text.substr(0, head.size()) == head &&
         text.substr(text.size() - tail.size()) == tail;
}

bool Layout::narrow_state(us_socket_t *socket, int expected) {
  const auto *ints = static_cast<int *>(us.us_socket_ext(us.tls, socket));
  const size_t size = size_behind(socket, ints);
  if (!is_readable(ints, size)) return false;
  int left = 0;
  for (size_t i = 0; i < kMaxSearch / sizeof(int); i++) {
    state_candidates_[i] = state_candidates_[i] && i < size / sizeof(int) && ints[i] == expected;
    if (!state_candidates_[i]) continue;
    left++;
    state_ = i * sizeof(int);
  }
  return left > 0;
}

bool Layout::probe(ProbeStage stage, us_socket_t *socket) {
  if (stage == ProbeStage::Untouched) {
    for (bool &candidate : state_candidates_) candidate = true;
    return find_cork(socket) && narrow_state(socket, kPending);
  }
  if (!cork_ || corked_socket() != socket) return false;
  switch (stage) {
    case ProbeStage::StatusWritten:
      return cork_length() == strlen(kProbeStatusLine) && check_cork(kProbeStatusLine, "") &&
             narrow_state(socket, kPending | kStatusWritten);
    case ProbeStage::HeaderWritten:
      return cork_length() == strlen(kProbeStatusLine) + strlen(kProbeHeader) && check_cork(kProbeStatusLine, kProbeHeader) &&
             narrow_state(socket, kPending | kStatusWritten);
    case ProbeStage::LengthAnnounced:
      // A response with a missing byte must still be pending, or uWS would answer the next request in the middle of the body.
      return check_cork(kProbeStatusLine, kProbeEnd) && narrow_state(socket, kPending | kStatusWritten | kLengthWritten);
    case ProbeStage::Answered: {
      if (!narrow_state(socket, kStatusWritten | kLengthWritten)) return false;
      int left = 0;
      for (bool candidate : state_candidates_) left += candidate;
      return learned_ = left == 1;
    }
    default:
      return false;
  }
}
