// The part of uSockets that this addon uses.
//
// uWebSockets.js is a C++ HTTP server (uWS) on top of a small C library (uSockets) that wraps libuv. Its .node file exports the C functions of
// uSockets, so this addon can call them although it is not linked with them: it looks them up by name at start. No header of uSockets is needed: all
// its structures stay opaque here. The places of callbacks and states in them are found by watching for changes (hooks.h, layout.h). The table in
// README.md lists the assumptions, which are checked as far as possible, as is that uSockets allocates by malloc.
#pragma once
#include <string>

struct us_socket_t;          // one TCP connection; uWS calls the same pointer HttpResponse
struct us_socket_context_t;  // shared by all connections of one App: the callbacks below
struct us_loop_t;            // uSockets' view of the libuv loop

// Events for which a connection is polled (us_poll_events, us_poll_change); the values are libuv's UV_READABLE and UV_WRITABLE.
constexpr int kReadable = 1;
constexpr int kWritable = 2;

// The callbacks that uSockets calls for a connection. Each returns the connection, which may be closed by then.
using OnOpen = us_socket_t *(*)(us_socket_t *, int is_client, char *ip, int ip_length);
using OnData = us_socket_t *(*)(us_socket_t *, char *data, int length);
using OnEvent = us_socket_t *(*)(us_socket_t *);  // writable, timeout
using OnClose = us_socket_t *(*)(us_socket_t *, int code, void *reason);

// The functions, by their names in the binary. The first argument of most, `ssl`, matters only to those for which `tls` is passed here.
struct USockets {
  int tls = 0;  // 1: the connections of this process are encrypted
  int (*us_poll_fd)(us_socket_t *);
  int (*us_poll_events)(us_socket_t *);
  void (*us_poll_change)(us_socket_t *, us_loop_t *, int events);
  us_socket_context_t *(*us_socket_context)(int ssl, us_socket_t *);
  us_loop_t *(*us_socket_context_loop)(int ssl, us_socket_context_t *);
  void *(*us_loop_ext)(us_loop_t *);               // memory after the loop: uWS's LoopData, with the cork buffer
  void *(*us_socket_ext)(int ssl, us_socket_t *);  // memory after the connection: uWS's HttpResponseData
  int (*us_socket_is_closed)(int ssl, us_socket_t *);
  int (*us_socket_is_shut_down)(int ssl, us_socket_t *);
  int (*us_socket_write)(int ssl, us_socket_t *, const char *data, int length, int more);
  void (*us_socket_shutdown)(int ssl, us_socket_t *);
  us_socket_t *(*us_socket_close)(int ssl, us_socket_t *, int code, void *reason);
  void (*us_socket_timeout)(int ssl, us_socket_t *, unsigned seconds);  // 0 disables it; granularity 4 s
  void (*us_socket_context_on_open)(int ssl, us_socket_context_t *, OnOpen);
  void (*us_socket_context_on_data)(int ssl, us_socket_context_t *, OnData);
  void (*us_socket_context_on_writable)(int ssl, us_socket_context_t *, OnEvent);
  void (*us_socket_context_on_close)(int ssl, us_socket_context_t *, OnClose);
  void (*us_socket_context_on_timeout)(int ssl, us_socket_context_t *, OnEvent);
};

extern USockets us;

// Looks up all functions in the binary at `path`, which must be loaded already. Returns an empty string, or the reason of the failure.
std::string load_usockets(const char *path);

// True if `function` lies in that binary.
bool is_in_binary(const void *function);
