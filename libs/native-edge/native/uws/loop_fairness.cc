#include "loop_fairness.h"

#include <signal.h>

LoopFairness loop_fairness;

namespace {
// SIGURG is ignored by default and nothing else uses it here: the kernel sends it only to the owner of a socket
// (F_SETOWN).
constexpr int kSignal = SIGURG;
}  // namespace

void LoopFairness::open(uv_loop_t *loop) {
  if (is_open_) return;
  is_open_ = true;
  uv_prepare_init(loop, &begin_);
  uv_signal_init(loop, &signal_);
  uv_prepare_start(&begin_, [](uv_prepare_t *) { loop_fairness.events_ = 0; });
  uv_signal_start(&signal_, [](uv_signal_t *, int) {}, kSignal);
  // The handles must not keep the process alive.
  uv_unref(reinterpret_cast<uv_handle_t *>(&begin_));
  uv_unref(reinterpret_cast<uv_handle_t *>(&signal_));
}

bool LoopFairness::close(uv_close_cb closed, void *data) {
  if (!is_open_) return false;
  is_open_ = false;
  signal_.data = data;
  uv_close(reinterpret_cast<uv_handle_t *>(&begin_), nullptr);
  uv_close(reinterpret_cast<uv_handle_t *>(&signal_), closed);
  return true;
}

void LoopFairness::end_soon() { raise(kSignal); }
