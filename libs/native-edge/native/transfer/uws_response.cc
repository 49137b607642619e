#include "uws_response.h"

#include <string.h>
#include <sys/socket.h>

#include "../addon.h"
#include "../uws/connection.h"
#include "file_transfer.h"

namespace {
// A transfer that JavaScript has started, and whose end is reported to it.
class ReportedTransfer : public FileTransfer {
 public:
  using FileTransfer::FileTransfer;
  void ended(Outcome outcome) override { tell_javascript(id, outcome, length - left); }

  uint32_t id = 0;
};

us_socket_t *corked_before = nullptr;
unsigned corked_bytes_before = 0;
uint32_t last_id = 0;

// Sends the content of uWS's cork buffer. False if not all of it could be sent; uWS sends the rest.
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

// Returns the connection of JavaScript's response, which Node-API cannot pass. It is the corked connection, if what JavaScript
// has just written to the response went into the cork buffer. (It did not if the caller forgot to cork, or could not because it
// runs inside the handler of another connection.)
Connection *connection_of_response() {
  us_socket_t *socket = app.layout.learned() ? app.layout.corked_socket() : nullptr;
  if (!socket || socket != corked_before || app.layout.cork_length() <= corked_bytes_before) return nullptr;
  Connection *connection = find_connection(socket);
  return connection && !connection->transfer && !us.us_socket_is_closed(0, socket) ? connection : nullptr;
}

// Sends as much as possible without waiting.
Pumped send_first(us_socket_t *socket, ReportedTransfer &transfer) {
  // If uWS polls for writable, it still has earlier bytes in its memory: head and body queue up behind them.
  transfer.head_waits = us.us_poll_events(socket) & kWritable;
  if (transfer.head_waits) return Pumped::Again;
  transfer.choose_stretch();
  if (transfer.is_cold()) {
    transfer.head_waits = true;  // uWS sends the head when the handler returns; the body follows
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

bool take_back_length() {
  if (!connection_of_response()) return false;
  constexpr std::string_view name = "Content-Length: ", line_end = "\r\n";
  char *const written = app.layout.cork_buffer() + corked_bytes_before;
  const std::string_view text(written, app.layout.cork_length() - corked_bytes_before);
  const size_t from = text.find(name), to = text.find(line_end, from);
  if (from == text.npos || to == text.npos) return false;
  const size_t next = to + line_end.size();
  memmove(written + from, written + next, text.size() - next);
  app.layout.cork_length() -= static_cast<unsigned>(next - from);
  return true;
}

Started start_file_transfer(int file, int64_t offset, uint64_t length) {
  Connection *connection = connection_of_response();
  // The head did not fit into the cork buffer: uWS has sent part of it, with the byte that is not part of the file.
  if (!connection) return {Started::Failed, 0, Outcome::Aborted};
  app.files_started++;
  app.layout.cork_length() -= 1;  // removes the byte that announced the length; the file contains it
  ReportedTransfer first(file, offset, length);
  const Pumped pumped = send_first(connection->socket, first);
  if (pumped == Pumped::All) return {Started::Sent};
  if (pumped == Pumped::Truncated) return {Started::Failed, 0, Outcome::Truncated};
  if (pumped == Pumped::PeerGone) return {Started::Failed, 0, Outcome::Aborted};
  if (++last_id == 0) ++last_id;  // 0 is not a valid id
  first.id = last_id;
  begin_transfer(*connection, std::make_unique<ReportedTransfer>(first), pumped);
  return {Started::Pending, last_id};
}
