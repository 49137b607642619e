// The addon's state of each connection, and of the App as a whole.
#pragma once
#include <uv.h>

#include <memory>
#include <string>
#include <vector>

#include "layout.h"
#include "request_head.h"
#include "../transfer/transfer.h"
#include "usockets.h"

// One connection, from its opening to its end. Connections that were open before the hooks were set have no such entry: their position in a
// request is unknown, so only uWS serves them.
struct Connection {
  us_socket_t *socket = nullptr;
  BodyCursor body;      // of the request being received
  std::string held;     // input not yet passed to uWS: an incomplete head, or requests that came too early
  size_t scanned = 0;   // bytes at the beginning of `held` that contain no end of a head
  bool waiting = false;  // in App::waiting
  bool reading_paused = false;
  bool last_request = false;   // the connection ends after the current response (Connection: close, HTTP/1.0); later input is dropped
  bool idle_extended = false;  // the time-out of uWS expired while idle; the rest of App::idle_seconds runs
  std::unique_ptr<Transfer> transfer;  // the body being sent
};

// Time in seconds for which uWS lets a connection wait for the next request, or for the rest of one.
constexpr unsigned kUwsIdleSeconds = 10;

// The process's App whose hooks are set. All of it belongs to the thread of its event loop.
struct App {
  bool attached = false;
  std::vector<us_socket_context_t *> contexts;  // contexts with hooks: over TLS one for each certificate since the start
  us_loop_t *loop = nullptr;
  uv_loop_t *uv_loop = nullptr;
  Layout layout;
  std::vector<std::unique_ptr<Connection>> connections;  // by descriptor
  std::vector<int> waiting;                              // descriptors with requests held until the previous one is answered
  std::vector<int> want_writable;                        // descriptors to be polled for writable from the next poll on
  uint64_t stall_ms = 0;
  unsigned idle_seconds = 0;  // idle time of a connection, if longer than the time-out of uWS
  uint64_t files_started = 0;    // responses whose body is sent from a file
  uint64_t quick_request_at = 0;  // time of the last request that was not for a file, in the loop's milliseconds
};

extern App app;

Connection *find_connection(us_socket_t *socket);
Connection *find_connection(int fd);
void add_connection(us_socket_t *socket);
void forget_connection(us_socket_t *socket);

// Feeds the waiting connections and polls for writable before each poll of the loop from now on.
void start_before_poll();
// Stops that permanently, at the end of the thread.
void close_before_poll();

// True if any client has not received all bytes: those of a response in progress, or those that the kernel holds for it.
bool has_unsent();

// True if uWS's next call for this connection must wait for a response that is not complete, or not sent.
bool has_answer_under_way(const Connection &connection);

// Polls a connection for readable unless its input is paused, and for writable if `writable`.
void poll_for(Connection &connection, bool writable);
