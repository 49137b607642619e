#include "connection.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <algorithm>

#include "request_pipeline.h"

App app;

Connection *find_connection(int fd) {
  const auto index = static_cast<size_t>(fd);
  return fd >= 0 && index < app.connections.size() ? app.connections[index].get() : nullptr;
}

Connection *find_connection(us_socket_t *socket) {
  Connection *connection = find_connection(us.us_poll_fd(socket));
  return connection && connection->socket == socket ? connection : nullptr;
}

void add_connection(us_socket_t *socket) {
  const auto fd = static_cast<size_t>(us.us_poll_fd(socket));
  if (fd >= app.connections.size()) app.connections.resize(fd + 256);
  app.connections[fd] = std::make_unique<Connection>();
  app.connections[fd]->socket = socket;
}

void forget_connection(us_socket_t *socket) {
  if (find_connection(socket)) app.connections[static_cast<size_t>(us.us_poll_fd(socket))].reset();
}

bool has_unsent() {
  return std::any_of(app.connections.begin(), app.connections.end(), [](const std::unique_ptr<Connection> &connection) {
    int unsent = 0;
    return connection && (connection->transfer || (!ioctl(us.us_poll_fd(connection->socket), SIOCOUTQ, &unsent) && unsent > 0));
  });
}

bool has_answer_under_way(const Connection &connection) {
  return connection.transfer || app.layout.response_pending(connection.socket) ||
         (us.us_poll_events(connection.socket) & kWritable);
}

void poll_for(Connection &connection, bool writable) {
  us.us_poll_change(connection.socket, app.loop, (connection.reading_paused ? 0 : kReadable) | (writable ? kWritable : 0));
}

namespace {
uv_prepare_t before_poll;
bool before_poll_ready = false;

void on_before_poll(uv_prepare_t *handle) {
  // Both may run JavaScript, which may add to the lists; these additions wait for the next round.
  feed_waiting();
  poll_unfinished_transfers();
  if (app.waiting.empty() && app.want_writable.empty()) uv_prepare_stop(handle);
}
}  // namespace

void start_before_poll() {
  if (!before_poll_ready) {
    uv_prepare_init(app.uv_loop, &before_poll);
    uv_unref(reinterpret_cast<uv_handle_t *>(&before_poll));  // must not keep the process alive
    before_poll_ready = true;
  }
  uv_prepare_start(&before_poll, on_before_poll);
}

void close_before_poll() {
  if (!before_poll_ready) return;
  before_poll_ready = false;
  uv_close(reinterpret_cast<uv_handle_t *>(&before_poll), nullptr);
}
