// Finding the App behind a listening port.
//
// Node-API cannot read the listen token that App.listen hands to JavaScript (it is a foreign V8 External), so the listening
// socket is looked for among the handles of the libuv loop.
#pragma once
#include <uv.h>

#include "usockets.h"

struct Listener {
  std::string problem;  // empty: found
  us_socket_context_t *context = nullptr;
  us_loop_t *loop = nullptr;
};

// One that has no hooks yet: where a certificate is replaced, two listen on the port for a moment.
Listener find_listener(uv_loop_t *uv_loop, int port);

// Whether connections wait in the kernel to be accepted on the port. Closing its listener would reset them.
bool has_waiting_connections(uv_loop_t *uv_loop, int port);
