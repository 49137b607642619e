#include "uws_response.h"

#include <string.h>
#include <sys/socket.h>

#include "../addon.h"
#include "../uws/connection.h"
#include "file_transfer.h"

namespace {
// One that JavaScript has started, and is told the end of.
class ReportedTransfer : public FileTransfer {
 public:
  using FileTransfer::FileTransfer;
  void ended(Outcome outcome) override { tell_javascript(id, outcome, length - left); }

  uint32_t id = 0;
};

us_socket_t *corked_before = nullptr;
unsigned corked_bytes_before = 0;
uint32_t last_id = 0;

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
Pumped send_first(us_socket_t *socket, ReportedTransfer &transfer) {
  // Where uWS polls for writable it still has earlier bytes in its own memory: head and body queue up behind them.
  transfer.head_waits = us.us_poll_events(socket) & kWritable;
  if (transfer.head_waits) return Pumped::Again;
  transfer.choose_stretch();
  if (transfer.is_cold()) {
    transfer.head_waits = true;  // uWS sends the head when the handler returns, the body follows
    return Pumped::Cold;
  }
  transfer.head_waits = !send_head(socket);
  return transfer.head_waits ? Pumped::Again : transfer.send_stretch(socket);
}
}  // namespace

void mark_cork() {
  corked_before = app.layout.learned() ? app.layout.corked_socket() : nullptr;
  corked_bytes_before = corked_before ? app.layout.cork_length() : 0;
}

bool take_back_mark() {
  if (!connection_of_response()) return false;
  app.layout.cork_length() = corked_bytes_before;
  return true;
}

Started start_file_transfer(int file, int64_t offset, uint64_t length) {
  Connection *connection = connection_of_response();
  // The head did not fit into the cork buffer: uWS has sent some of it, and the byte that is not the file's with it.
  if (!connection) return {Started::Failed, 0, Outcome::Aborted};
  app.files_started++;
  app.layout.cork_length() -= 1;  // the byte that announced the length; the file has the right one
  ReportedTransfer first(file, offset, length);
  const Pumped pumped = send_first(connection->socket, first);
  if (pumped == Pumped::All) return {Started::Sent};
  if (pumped == Pumped::Truncated) return {Started::Failed, 0, Outcome::Truncated};
  if (pumped == Pumped::PeerGone) return {Started::Failed, 0, Outcome::Aborted};
  if (++last_id == 0) ++last_id;  // 0 is no id
  first.id = last_id;
  begin_transfer(*connection, std::make_unique<ReportedTransfer>(first), pumped);
  return {Started::Pending, last_id};
}
