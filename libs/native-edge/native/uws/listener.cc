#include "listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "hooks.h"

namespace {
struct Search {
  int port;
  int found = 0;
  us_socket_t *socket = nullptr, *without_hooks = nullptr;
};

bool listens_on(int fd, int port) {
  int accepts = 0;
  socklen_t size = sizeof accepts;
  if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &size) || !accepts) return false;
  sockaddr_storage address{};
  size = sizeof address;
  if (getsockname(fd, reinterpret_cast<sockaddr *>(&address), &size)) return false;
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<sockaddr_in *>(&address)->sin_port) == port;
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<sockaddr_in6 *>(&address)->sin6_port) == port;
  return false;
}

void look_at(uv_handle_t *handle, void *argument) {
  auto *search = static_cast<Search *>(argument);
  uv_os_fd_t fd;
  // uSockets polls a listening socket with uv_poll_t (Node's own servers use uv_tcp_t); its data points to the uSockets structure.
  void *data = uv_handle_get_data(handle);
  if (uv_handle_get_type(handle) != UV_POLL || !data || uv_fileno(handle, &fd) || !listens_on(fd, search->port)) return;
  // That structure begins with a pointer back to the handle and contains the descriptor: both must match.
  auto *socket = static_cast<us_socket_t *>(data);
  if (*static_cast<void **>(data) != handle || us.us_poll_fd(socket) != fd) return;
  search->socket = socket;
  if (!has_hooks(us.us_socket_context(0, socket))) search->found++, search->without_hooks = socket;
}
}  // namespace

Listener find_listener(uv_loop_t *uv_loop, int port) {
  Search search{port};
  uv_walk(uv_loop, look_at, &search);
  Listener listener;
  if (search.found != 1) {
    listener.problem = "found " + std::to_string(search.found) + " uWebSockets.js listeners on the port instead of one";
    return listener;
  }
  listener.context = us.us_socket_context(0, search.without_hooks);
  listener.loop = us.us_socket_context_loop(0, listener.context);
  return listener;
}

bool has_waiting_connections(uv_loop_t *uv_loop, int port) {
  Search search{port};
  uv_walk(uv_loop, look_at, &search);
  if (!search.socket) return false;
  pollfd listening{us.us_poll_fd(search.socket), POLLIN, 0};
  return poll(&listening, 1, 0) > 0;
}
