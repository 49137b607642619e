#include "transfer.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <uv.h>

#include <algorithm>

#include "../uws/connection.h"
#include "../uws/hooks.h"
#include "../uws/wire.h"

// Functions with access to the private part of a transfer.
struct Progress {
  static us_socket_t *&socket(Transfer &t) { return t.socket_; }
  static bool &warming(Transfer &t) { return t.warming_; }
  static bool &moved(Transfer &t) { return t.moved_; }
  static bool is_stalled(Transfer &transfer);
};

namespace {
// Interval in seconds at which the progress of a transfer is checked; uSockets' timer has a granularity of 4 s.
constexpr unsigned kCheckSeconds = 4;
// Limits in bytes for one turn of the event loop: of all transfers together, and the minimum and maximum of each. If all requests are
// downloads, a turn is some 4 ms of work with large pieces, which costs less: with eight concurrent downloads of 200 MB, a gigabyte took
// 0.96 of nginx's CPU time in pieces of 1 MB, 0.90 in pieces of 2 MB, and 0.84 in pieces of 4 MB. If tiles are requested meanwhile,
// which would wait for a whole turn, turns are short.
struct Turn {
  size_t bytes, least, most;
};
constexpr Turn kAlone = {16 << 20, 1 << 20, 4 << 20}, kBesideTiles = {2 << 20, 128 << 10, 512 << 10};
// Time in ms after a request that was not for a file, during which another one is expected.
constexpr uint64_t kBesideMs = 100;
size_t under_way = 0;

// Polls for writable just before the next poll, because uSockets disables its own polling for it whenever an on_writable callback
// returns without a failed us_socket_write.
void go_on_when_writable(us_socket_t *socket) {
  app.want_writable.push_back(us.us_poll_fd(socket));
  start_before_poll();
}

us_socket_t *settle(Connection &connection, Outcome outcome) {
  us_socket_t *socket = connection.socket;
  const std::unique_ptr<Transfer> transfer = std::move(connection.transfer);
  under_way--;
  // Must precede JavaScript: from here on "polls for writable" means again that uWS itself has bytes left to send.
  poll_for(connection, false);
  us.us_socket_timeout(0, socket, kUwsIdleSeconds);
  transfer->ended(outcome);
  // JavaScript may have closed the connection, and thereby deleted `connection`.
  const bool is_whole = outcome == Outcome::Sent;
  if ((is_whole && !transfer->is_last) || us.us_socket_is_closed(0, socket)) return socket;
  return is_whole ? end_connection(socket) : us.us_socket_close(0, socket, 0, nullptr);
}

void after_warming(uv_work_t *work, int) {
  auto *transfer = static_cast<Transfer *>(work->data);
  delete work;
  Progress::warming(*transfer) = false;
  us_socket_t *socket = Progress::socket(*transfer);
  if (socket) {
    Progress::moved(*transfer) = true;  // the wait was not caused by the peer
    go_on_when_writable(socket);
  } else {
    report_aborted(std::unique_ptr<Transfer>(transfer));
  }
}

void warm_next_stretch(Transfer &transfer) {
  Progress::warming(transfer) = true;
  auto *work = new uv_work_t;
  work->data = &transfer;
  uv_queue_work(
      app.uv_loop, work, [](uv_work_t *it) { static_cast<Transfer *>(it->data)->warm(); }, after_warming);
}

// Continues a transfer after a pump that did not send everything.
void go_on_later(Transfer &transfer, Pumped pumped) {
  us_socket_t *socket = Progress::socket(transfer);
  us.us_socket_timeout(0, socket, kCheckSeconds);
  if (pumped == Pumped::Cold) warm_next_stretch(transfer);
  else go_on_when_writable(socket);
}

us_socket_t *go_on(Connection &connection) {
  Transfer &transfer = *connection.transfer;
  const uint64_t left_before = transfer.left;
  const Pumped pumped = transfer.pump(connection.socket);
  if (transfer.left != left_before) Progress::moved(transfer) = true;
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

// Rounding of time-outs in seconds. uSockets counts them in steps of 4 seconds: that of uWS expires up to 2 seconds early, others up to
// 4. No connection may be closed early.
constexpr unsigned kRounding = 6;

// Called when the time-out of uWS expires. An idle connection with no input or output pending stays open for the rest of its idle time.
bool may_stay_idle(us_socket_t *socket) {
  Connection *connection = find_connection(socket);
  if (!connection || connection->idle_extended || us.us_socket_is_shut_down(us.tls, socket)) return false;
  if (!connection->held.empty() || connection->body.active() || has_answer_under_way(*connection)) return false;
  if (app.idle_seconds <= kUwsIdleSeconds) return false;
  connection->idle_extended = true;
  us.us_socket_timeout(0, socket, app.idle_seconds - kUwsIdleSeconds + kRounding);
  return true;
}

Transfer *transfer_on(us_socket_t *socket) {
  Connection *connection = find_connection(socket);
  return connection ? connection->transfer.get() : nullptr;
}
}  // namespace

// A reader is cut only if it reads nothing for the whole stall time, however slow it is otherwise. Progress is what the peer's kernel
// acknowledges, which reduces the bytes that our kernel holds for it, or makes room for new ones.
bool Progress::is_stalled(Transfer &transfer) {
  const uint64_t now = uv_now(app.uv_loop);
  int held = 0;
  ioctl(us.us_poll_fd(transfer.socket_), SIOCOUTQ, &held);
  if (transfer.moved_ || transfer.warming_ || held < transfer.unacknowledged_) transfer.progress_at_ = now;
  transfer.moved_ = false;
  transfer.unacknowledged_ = held;
  return now - transfer.progress_at_ >= app.stall_ms;
}

size_t transfer_quota() {
  const bool beside_tiles = uv_now(app.uv_loop) - app.quick_request_at < kBesideMs;
  const Turn &turn = beside_tiles ? kBesideTiles : kAlone;
  return std::clamp(turn.bytes / (under_way + 1), turn.least, turn.most);
}

void begin_transfer(Connection &connection, std::unique_ptr<Transfer> transfer, Pumped pumped) {
  Progress::socket(*transfer) = connection.socket;
  if (transfer->is_last) connection.last_request = true;
  connection.transfer = std::move(transfer);
  under_way++;
  go_on_later(*connection.transfer, pumped);
}

us_socket_t *on_writable(us_socket_t *socket) {
  Transfer *transfer = transfer_on(socket);
  if (!transfer) return uws.writable(socket);
  if (Progress::warming(*transfer)) return socket;
  Connection &connection = *find_connection(socket);
  if (transfer->head_waits) {
    poll_for(connection, false);
    uws.writable(socket);  // sends some bytes, and polls for writable again if any are left
    if (us.us_socket_is_closed(0, socket)) return socket;
    us.us_socket_timeout(0, socket, kCheckSeconds);
    if (us.us_poll_events(socket) & kWritable) return socket;
    transfer->head_waits = false;
  }
  return go_on(connection);
}

us_socket_t *on_timeout(us_socket_t *socket) {
  Transfer *transfer = transfer_on(socket);
  if (!transfer) return may_stay_idle(socket) ? socket : uws.timeout(socket);
  if (Progress::is_stalled(*transfer)) return settle(*find_connection(socket), Outcome::Stalled);
  us.us_socket_timeout(0, socket, kCheckSeconds);
  return socket;
}

std::unique_ptr<Transfer> detach_transfer(Connection &connection) {
  std::unique_ptr<Transfer> transfer = std::move(connection.transfer);
  if (!transfer) return nullptr;
  under_way--;
  Progress::socket(*transfer) = nullptr;
  return transfer;
}

void report_aborted(std::unique_ptr<Transfer> transfer) {
  if (!transfer) return;
  // A thread still uses it: after_warming reports and deletes it.
  if (Progress::warming(*transfer)) static_cast<void>(transfer.release());
  else transfer->ended(Outcome::Aborted);
}

void poll_unfinished_transfers() {
  std::vector<int> descriptors;
  descriptors.swap(app.want_writable);
  for (int fd : descriptors) {
    Connection *connection = find_connection(fd);
    if (connection && connection->transfer && !Progress::warming(*connection->transfer)) poll_for(*connection, true);
  }
}
