// Finds the App behind a listening port.
//
// Node-API cannot read the listen token that App.listen passes to JavaScript (it is a foreign V8 External), so the
// listening socket is searched among the handles of the libuv loop.
#pragma once
#include <uv.h>

#include "usockets.h"

struct Listener {
  std::string problem;  // empty if found
  us_socket_context_t *context = nullptr;
  us_loop_t *loop = nullptr;
};

// Returns the listener without hooks: while a certificate is replaced, two listen on the port for a moment.
Listener find_listener(uv_loop_t *uv_loop, int port);

// True if connections wait in the kernel to be accepted on the port. Closing its listener would reset them.
bool has_waiting_connections(uv_loop_t *uv_loop, int port);
