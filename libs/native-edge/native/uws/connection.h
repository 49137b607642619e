// What the addon knows of each connection, and of the App as a whole.
#pragma once
#include <uv.h>

#include <memory>
#include <string>
#include <vector>

#include "layout.h"
#include "request_head.h"
#include "../transfer/transfer.h"
#include "usockets.h"

// One connection, from its opening to its end. A connection that was open before the hooks were set has none: it is not
// known where in a request it was, so uWS alone serves it.
struct Connection {
  us_socket_t *socket = nullptr;
  BodyCursor body;      // of the request being received
  std::string held;     // input that uWS has not been given yet: an incomplete head, or requests that came too early
  size_t scanned = 0;   // so much of `held` is known not to contain the end of a head
  bool waiting = false;  // in App::waiting
  bool reading_paused = false;
  bool last_request = false;   // the connection ends with the answer under way (Connection: close, a probe in HTTP/1.0): what follows is dropped
  bool idle_extended = false;  // uWS's time-out has passed with nothing under way: the rest of App::idle_seconds runs
  std::unique_ptr<Transfer> transfer;  // the body being sent
};

// How long uWS lets a connection wait for the next request, or for the rest of one.
constexpr unsigned kUwsIdleSeconds = 10;

// The one App of this process that the hooks are set on. All of it belongs to the thread of its event loop.
struct App {
  bool attached = false;
  std::vector<us_socket_context_t *> contexts;  // of which the hooks are set: over TLS one for each certificate since the start
  us_loop_t *loop = nullptr;
  uv_loop_t *uv_loop = nullptr;
  Layout layout;
  std::vector<std::unique_ptr<Connection>> connections;  // by descriptor
  std::vector<int> waiting;                              // descriptors with requests held until the one before is answered
  std::vector<int> want_writable;                        // descriptors to be polled for writable from the next poll on
  uint64_t stall_ms = 0;
  unsigned idle_seconds = 0;  // how long a connection on which nothing is under way lives, if longer than uWS's time-out
  uint64_t files_started = 0;    // answers whose body is sent from a file
  uint64_t quick_request_at = 0;  // when the last request came that was for something else, in the loop's milliseconds
};

extern App app;

Connection *find_connection(us_socket_t *socket);
Connection *find_connection(int fd);
void add_connection(us_socket_t *socket);
void forget_connection(us_socket_t *socket);

// From now on, before each poll of the loop, the waiting connections are fed and writable events are asked for.
void start_before_poll();
// Ends that for good, at the end of the thread.
void close_before_poll();

// Whether any client has still to take bytes of this process: those of an answer under way, or those that the kernel holds for it.
bool has_unsent();

// What uWS's next call for this connection must wait for: an answer that is not complete, or not sent.
bool has_answer_under_way(const Connection &connection);

// The poll of a connection: readable unless its input is paused, and writable where wanted.
void poll_for(Connection &connection, bool writable);
