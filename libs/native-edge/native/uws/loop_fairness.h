// Keeps the turns of the event loop short.
//
// libuv takes up to 1,024 events at a time from the kernel, and where there were as many it asks again, up to 48 times, before it looks at its
// timers: with some thousand busy connections a turn is 49,152 requests long, half a second or more. Until then no timer of JavaScript runs, the
// table's time to trust its tokens passes, and every request goes to JavaScript, which makes turns longer still. After a signal libuv lets the
// turn end (uv__io_poll: "Event loop should cycle now"), and nothing else makes it do so.
#pragma once
#include <uv.h>

class LoopFairness {
 public:
  // To be called once for the thread.
  void open(uv_loop_t *loop);
  // For good, at the end of the thread. False: there was nothing to close, and `closed` will not be called.
  bool close(uv_close_cb closed, void *data);
  // To be called for each event of a connection.
  void count_event() {
    if (++events_ == kMostEvents) end_soon();
  }

 private:
  // What one call of the kernel brings: with fewer the turn ends by itself. The signal comes after the events that wait already.
  static constexpr unsigned kMostEvents = 1024;
  static void end_soon();

  bool is_open_ = false;
  unsigned events_ = 0;  // since the turn began
  uv_prepare_t begin_;
  uv_signal_t signal_;
};

extern LoopFairness loop_fairness;  // of the thread of the event loop
