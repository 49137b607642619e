// The part of libuv that the addon names, so that it can be compiled without Node's headers. fake_uws.cc implements the few functions
// that are needed.
#pragma once
#include <stdint.h>

struct uv_loop_t {};
struct uv_handle_t {};
struct uv_prepare_t {
  void *data;
};
struct uv_work_t {
  void *data;
};
using uv_close_cb = void (*)(uv_handle_t *);
using uv_prepare_cb = void (*)(uv_prepare_t *);
using uv_work_cb = void (*)(uv_work_t *);
using uv_after_work_cb = void (*)(uv_work_t *, int);

uint64_t uv_now(const uv_loop_t *);
int uv_prepare_init(uv_loop_t *, uv_prepare_t *);
int uv_prepare_start(uv_prepare_t *, uv_prepare_cb);
int uv_prepare_stop(uv_prepare_t *);
void uv_unref(uv_handle_t *);
void uv_close(uv_handle_t *, uv_close_cb);
int uv_queue_work(uv_loop_t *, uv_work_t *, uv_work_cb, uv_after_work_cb);
