#include "wire.h"

#include <errno.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

namespace {
// Maximum size of a TLS record (RFC 8446, 5.1).
constexpr size_t kRecord = 16 * 1024;
char record[kRecord];  // one at a time, on one thread

int flags(bool more) { return MSG_NOSIGNAL | MSG_DONTWAIT | (more ? MSG_MORE : 0); }

// Returns the accepted bytes of a record: all, or, with the known library, none.
size_t encrypt(us_socket_t *socket, const char *bytes, size_t size, bool more) {
  return static_cast<size_t>(std::max(us.us_socket_write(1, socket, bytes, static_cast<int>(size), more), 0));
}

ssize_t taken(size_t bytes) {
  if (bytes) return static_cast<ssize_t>(bytes);
  errno = EAGAIN;
  return -1;
}

// Several pieces of memory, read in order.
class Gathered {
 public:
  Gathered(const iovec *parts, int count) : part_(parts), end_(parts + count) {
    for (const iovec *part = part_; part != end_; part++) left_ += part->iov_len;
  }
  size_t left() const { return left_; }
  // Returns the next bytes as one piece: in place if they are in one piece, otherwise copied into `record`.
  const char *next(size_t size) {
    while (at_ == part_->iov_len) part_++, at_ = 0;
    left_ -= size;
    if (part_->iov_len - at_ >= size) return from(size);
    for (size_t done = 0; done < size;) {
      const size_t n = std::min(size - done, part_->iov_len - at_);
      memcpy(record + done, from(n), n);
      done += n;
      if (at_ == part_->iov_len && done < size) part_++, at_ = 0;
    }
    return record;
  }

 private:
  const char *from(size_t size) {
    const char *const bytes = static_cast<const char *>(part_->iov_base) + at_;
    at_ += size;
    return bytes;
  }
  const iovec *part_, *const end_;
  size_t at_ = 0, left_ = 0;
};
}  // namespace

ssize_t send_bytes(us_socket_t *socket, std::string_view bytes, bool more) {
  if (!us.tls) return send(us.us_poll_fd(socket), bytes.data(), bytes.size(), flags(more));
  const iovec part{const_cast<char *>(bytes.data()), bytes.size()};
  return send_parts(socket, &part, 1, more);
}

ssize_t send_parts(us_socket_t *socket, const iovec *parts, int count, bool more) {
  if (!us.tls) {
    msghdr message{};
    message.msg_iov = const_cast<iovec *>(parts);
    message.msg_iovlen = static_cast<size_t>(count);
    return sendmsg(us.us_poll_fd(socket), &message, flags(more));
  }
  Gathered gathered(parts, count);
  size_t sent = 0;
  while (gathered.left()) {
    const size_t size = std::min(kRecord, gathered.left());
    const char *const bytes = gathered.next(size);
    const size_t n = encrypt(socket, bytes, size, more || gathered.left());
    sent += n;
    if (n < size) break;
  }
  return taken(sent);
}

ssize_t send_file(us_socket_t *socket, int file, off_t *offset, size_t length) {
  if (!us.tls) return sendfile(us.us_poll_fd(socket), file, offset, length);
  size_t sent = 0;
  while (sent < length) {
    const ssize_t read = pread(file, record, std::min(kRecord, length - sent), *offset);
    if (read <= 0) return sent ? taken(sent) : read;
    const auto size = static_cast<size_t>(read);
    const size_t n = encrypt(socket, record, size, sent + size < length);
    *offset += static_cast<off_t>(n);
    sent += n;
    if (n < size) break;
  }
  return taken(sent);
}

us_socket_t *end_connection(us_socket_t *socket) {
  if (us.tls) us.us_socket_shutdown(1, socket);
  return us.us_socket_close(0, socket, 0, nullptr);
}
