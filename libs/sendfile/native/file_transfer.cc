#include "file_transfer.h"

#include <errno.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include <algorithm>

#include "addon.h"
#include "connection.h"
#include "residency.h"

namespace {
class FileTransfer : public Transfer {
 public:
  FileTransfer(int file, int64_t offset, uint64_t length) : Transfer(length), file_(file), offset_(offset) {}

  bool is_cold() {
    stretch_ = static_cast<size_t>(std::min<uint64_t>(transfer_quota(), left));
    return residency(file_, offset_, stretch_) == Residency::Cold;
  }
  Pumped send_stretch(int socket_fd);
  Pumped pump(int socket_fd) override { return is_cold() ? Pumped::Cold : send_stretch(socket_fd); }
  void warm() override { ::warm(file_, offset_, stretch_); }
  void ended(Outcome outcome) override { tell_javascript(id, outcome, length - left); }

  uint32_t id = 0;

 private:
  const int file_;
  off_t offset_;
  size_t stretch_ = 0;  // what is sent next; is_cold sets it
};

us_socket_t *corked_before = nullptr;
unsigned corked_bytes_before = 0;
uint32_t last_id = 0;

Pumped FileTransfer::send_stretch(int socket_fd) {
  for (size_t quota = stretch_; quota;) {
    const ssize_t n = sendfile(socket_fd, file_, &offset_, quota);
    if (n > 0) {
      left -= static_cast<uint64_t>(n);
      quota -= static_cast<size_t>(n);
    } else if (n == 0) {
      return Pumped::Truncated;  // the file ends before the length that the head promised
    } else if (errno == EAGAIN) {
      return Pumped::Again;
    } else if (errno != EINTR) {
      return errno == EPIPE || errno == ECONNRESET || errno == ETIMEDOUT ? Pumped::PeerGone : Pumped::Truncated;
    }
  }
  return left ? Pumped::Again : Pumped::All;
}

// Sends what uWS has collected in the cork buffer; false: not all of it could be sent, and uWS will send the rest.
bool send_head(us_socket_t *socket) {
  unsigned &length = app.layout.cork_length();
  char *head = app.layout.cork_buffer();
  const ssize_t n = send(us.us_poll_fd(socket), head, length, MSG_MORE | MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n > 0) {
    length -= static_cast<unsigned>(n);
    memmove(head, head + n, length);
  }
  return length == 0;
}

// Whose response is it? JavaScript can hand over the response, but not the connection behind it. The connection is the corked
// one, if what JavaScript has just written to the response has gone into the cork buffer. (It has not where the caller forgot to
// cork, or could not because it runs inside the handler of another connection.)
Connection *connection_of_response() {
  us_socket_t *socket = app.layout.learned() ? app.layout.corked_socket() : nullptr;
  if (!socket || socket != corked_before || app.layout.cork_length() <= corked_bytes_before) return nullptr;
  Connection *connection = find_connection(socket);
  return connection && !connection->transfer && !us.us_socket_is_closed(0, socket) ? connection : nullptr;
}

// As much as can be sent without waiting.
Pumped send_first(us_socket_t *socket, FileTransfer &transfer) {
  // Where uWS polls for writable it still has earlier bytes in its own memory: head and body queue up behind them.
  transfer.head_waits = us.us_poll_events(socket) & kWritable;
  if (transfer.head_waits) return Pumped::Again;
  if (transfer.is_cold()) {
    transfer.head_waits = true;  // uWS sends the head when the handler returns, the body follows
    return Pumped::Cold;
  }
  transfer.head_waits = !send_head(socket);
  return transfer.head_waits ? Pumped::Again : transfer.send_stretch(us.us_poll_fd(socket));
}
}  // namespace

void mark_cork() {
  corked_before = app.layout.learned() ? app.layout.corked_socket() : nullptr;
  corked_bytes_before = corked_before ? app.layout.cork_length() : 0;
}

Started start_file_transfer(int file, int64_t offset, uint64_t length) {
  Connection *connection = connection_of_response();
  if (!connection) return {Started::NotPossible};
  app.files_started++;
  FileTransfer first(file, offset, length);
  const Pumped pumped = send_first(connection->socket, first);
  if (pumped == Pumped::All) return {Started::Sent};
  if (pumped == Pumped::Truncated) return {Started::Failed, 0, Outcome::Truncated};
  if (pumped == Pumped::PeerGone) return {Started::Failed, 0, Outcome::Aborted};
  if (++last_id == 0) ++last_id;  // 0 is no id
  first.id = last_id;
  begin_transfer(*connection, std::make_unique<FileTransfer>(first), pumped);
  return {Started::Pending, last_id};
}
