#include "transfer.h"

#include <errno.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <uv.h>

#include <algorithm>

#include "addon.h"
#include "connection.h"
#include "hooks.h"
#include "residency.h"

struct Transfer {
  uint32_t id;
  us_socket_t *socket;  // null: the connection has closed while a thread was reading
  int file;
  off_t offset;
  uint64_t left;
  uint64_t length;
  bool head_waits = false;  // uWS could not send the head yet and must do so first
  bool warming = false;     // a thread reads the next stretch
  // What is known of the peer's progress; looked at every kCheckSeconds.
  bool moved = true;         // the kernel has taken bytes since the last look
  int unacknowledged = 0;    // bytes that the kernel held for the peer at the last look
  uint64_t progress_at = 0;  // the last look that showed progress, in the loop's milliseconds
};

namespace {
// Fairness: so much is sent for one connection before the others are looked at again. Measured: with it, tiles beside 8 downloads
// wait 11 to 29 ms at the 99th percentile, without it 76 to 100 ms.
constexpr size_t kQuota = 1024 * 1024;
// How often progress is looked at while a transfer is under way; uSockets' timer has a granularity of 4 s.
constexpr unsigned kCheckSeconds = 4;

enum class Pumped { All, Again, Cold, Truncated, PeerGone };

us_socket_t *corked_before = nullptr;
unsigned corked_bytes_before = 0;
uint32_t last_id = 0;

Pumped pump(int fd, Transfer &transfer) {
  const auto stretch = static_cast<size_t>(std::min<uint64_t>(kQuota, transfer.left));
  if (residency(transfer.file, transfer.offset, stretch) == Residency::Cold) return Pumped::Cold;
  for (size_t quota = stretch; quota;) {
    const ssize_t n = sendfile(fd, transfer.file, &transfer.offset, quota);
    if (n > 0) {
      transfer.left -= static_cast<uint64_t>(n);
      quota -= static_cast<size_t>(n);
    } else if (n == 0) {
      return Pumped::Truncated;  // the file ends before the length that the head promised
    } else if (errno == EAGAIN) {
      return Pumped::Again;
    } else if (errno != EINTR) {
      return errno == EPIPE || errno == ECONNRESET || errno == ETIMEDOUT ? Pumped::PeerGone : Pumped::Truncated;
    }
  }
  return transfer.left ? Pumped::Again : Pumped::All;
}

int unacknowledged(int fd) {
  int bytes = 0;
  ioctl(fd, SIOCOUTQ, &bytes);
  return bytes;
}

// Writable is asked for just before the next poll and not here, because uSockets ends its own interest in it whenever an
// on_writable callback returns without a failed us_socket_write.
void go_on_when_writable(us_socket_t *socket) {
  app.want_writable.push_back(us.us_poll_fd(socket));
  start_before_poll();
}

void take_off(Connection &connection) {
  connection.transfer = nullptr;
  // Before JavaScript runs: from here on "polls for writable" means again that uWS itself has something left to send.
  poll_for(connection, false);
}

us_socket_t *settle(Connection &connection, Outcome outcome) {
  us_socket_t *socket = connection.socket;
  Transfer *transfer = connection.transfer;
  take_off(connection);
  tell_javascript(transfer->id, outcome, transfer->length - transfer->left);
  delete transfer;
  // JavaScript may have closed the connection, and `connection` with it.
  if (outcome == Outcome::Sent || us.us_socket_is_closed(0, socket)) return socket;
  return us.us_socket_close(0, socket, 0, nullptr);
}

struct Warming {
  uv_work_t work;
  Transfer *transfer;
  int file;
  off_t offset;
  size_t length;
};

void after_warming(uv_work_t *work, int) {
  auto *warming = static_cast<Warming *>(work->data);
  Transfer *transfer = warming->transfer;
  delete warming;
  transfer->warming = false;
  if (!transfer->socket) {
    report_aborted(transfer);
    return;
  }
  transfer->moved = true;  // it was not the peer that kept us waiting
  go_on_when_writable(transfer->socket);
}

void warm_next_stretch(Transfer &transfer) {
  auto *warming = new Warming{{}, &transfer, transfer.file, transfer.offset,
                              static_cast<size_t>(std::min<uint64_t>(kQuota, transfer.left))};
  warming->work.data = warming;
  transfer.warming = true;
  uv_queue_work(
      app.uv_loop, &warming->work,
      [](uv_work_t *work) {
        auto *it = static_cast<Warming *>(work->data);
        warm(it->file, it->offset, it->length);
      },
      after_warming);
}

// What follows a pump that did not send everything.
void go_on_later(Transfer &transfer, Pumped pumped) {
  us.us_socket_timeout(0, transfer.socket, kCheckSeconds);
  if (pumped == Pumped::Cold) warm_next_stretch(transfer);
  else go_on_when_writable(transfer.socket);
}

us_socket_t *go_on(Connection &connection) {
  Transfer &transfer = *connection.transfer;
  const uint64_t left_before = transfer.left;
  const Pumped pumped = pump(us.us_poll_fd(connection.socket), transfer);
  transfer.moved = transfer.moved || transfer.left != left_before;
  switch (pumped) {
    case Pumped::All:
      return settle(connection, Outcome::Sent);
    case Pumped::Truncated:
      return settle(connection, Outcome::Truncated);
    case Pumped::PeerGone:
      return settle(connection, Outcome::Aborted);
    default:
      go_on_later(transfer, pumped);
      return connection.socket;
  }
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
}  // namespace

void mark_cork() {
  corked_before = app.layout.learned() ? app.layout.corked_socket() : nullptr;
  corked_bytes_before = corked_before ? app.layout.cork_length() : 0;
}

Started start_transfer(int file, int64_t offset, uint64_t length) {
  // Whose response is it? JavaScript can hand over the response, but not the connection behind it. The connection is the corked
  // one, if what JavaScript has just written to the response has gone into the cork buffer. (It has not where the caller forgot to
  // cork, or could not because it runs inside the handler of another connection.)
  us_socket_t *socket = app.layout.learned() ? app.layout.corked_socket() : nullptr;
  Connection *connection = socket ? find_connection(socket) : nullptr;
  if (!connection || connection->socket != socket || socket != corked_before || connection->transfer ||
      app.layout.cork_length() <= corked_bytes_before || us.us_socket_is_closed(0, socket))
    return {Started::NotPossible};

  Transfer transfer{};
  transfer.socket = socket;
  transfer.file = file;
  transfer.offset = offset;
  transfer.left = transfer.length = length;
  // Where uWS polls for writable it still has earlier bytes in its own memory: head and body queue up behind them.
  transfer.head_waits = us.us_poll_events(socket) & kWritable;
  Pumped pumped = Pumped::Again;
  if (!transfer.head_waits && residency(file, offset, static_cast<size_t>(std::min<uint64_t>(kQuota, length))) == Residency::Cold) {
    transfer.head_waits = true;  // uWS sends the head when the handler returns, the body follows
    pumped = Pumped::Cold;
  }
  if (!transfer.head_waits) {
    transfer.head_waits = !send_head(socket);
    if (!transfer.head_waits) pumped = pump(us.us_poll_fd(socket), transfer);
  }
  const uint64_t sent = length - transfer.left;
  if (pumped == Pumped::All) return {Started::Sent, 0, Outcome::Sent, sent};
  if (pumped == Pumped::Truncated) return {Started::Failed, 0, Outcome::Truncated, sent};
  if (pumped == Pumped::PeerGone) return {Started::Failed, 0, Outcome::Aborted, sent};

  if (++last_id == 0) ++last_id;  // 0 is no id
  transfer.id = last_id;
  connection->transfer = new Transfer(transfer);
  go_on_later(*connection->transfer, pumped);
  return {Started::Pending, transfer.id, Outcome::Sent, sent};
}

us_socket_t *on_writable(us_socket_t *socket) {
  Connection *connection = find_connection(socket);
  Transfer *transfer = connection ? connection->transfer : nullptr;
  if (!transfer) return uws.writable(socket);
  if (transfer->warming) return socket;
  if (transfer->head_waits) {
    poll_for(*connection, false);
    uws.writable(socket);  // sends what it can, and polls for writable again if something is left
    if (us.us_socket_is_closed(0, socket)) return socket;
    us.us_socket_timeout(0, socket, kCheckSeconds);
    if (us.us_poll_events(socket) & kWritable) return socket;
    transfer->head_waits = false;
  }
  return go_on(*connection);
}

// A reader is cut for taking nothing at all for the whole time, however slow it is otherwise. What counts is what the peer's
// kernel acknowledges: that makes the bytes that ours holds for it fewer, or makes room for new ones.
us_socket_t *on_timeout(us_socket_t *socket) {
  Connection *connection = find_connection(socket);
  Transfer *transfer = connection ? connection->transfer : nullptr;
  if (!transfer) return uws.timeout(socket);
  const uint64_t now = uv_now(app.uv_loop);
  const int held = unacknowledged(us.us_poll_fd(socket));
  if (transfer->moved || transfer->warming || held < transfer->unacknowledged) transfer->progress_at = now;
  transfer->moved = false;
  transfer->unacknowledged = held;
  if (now - transfer->progress_at >= app.stall_ms) return settle(*connection, Outcome::Stalled);
  us.us_socket_timeout(0, socket, kCheckSeconds);
  return socket;
}

Transfer *detach_transfer(Connection &connection) {
  Transfer *transfer = connection.transfer;
  connection.transfer = nullptr;
  if (transfer) transfer->socket = nullptr;
  return transfer;
}

void report_aborted(Transfer *transfer) {
  if (!transfer || transfer->warming) return;  // the thread still uses the file: reported when it has finished
  tell_javascript(transfer->id, Outcome::Aborted, transfer->length - transfer->left);
  delete transfer;
}

void poll_unfinished_transfers() {
  std::vector<int> descriptors;
  descriptors.swap(app.want_writable);
  for (int fd : descriptors) {
    Connection *connection = find_connection(fd);
    if (connection && connection->transfer && !connection->transfer->warming) poll_for(*connection, true);
  }
}
