// Keeps the turns of the event loop short.
//
// libuv reads up to 1,024 events at a time from the kernel. If it gets as many, it asks again, up to 48 times, before it checks its timers: with
// some thousand busy connections a turn is 49,152 requests long, half a second or more. Meanwhile no timer of JavaScript runs, the table's time
// to trust its tokens passes, and every request goes to JavaScript, which makes turns even longer. libuv ends the turn after a signal
// (uv__io_poll: "Event loop should cycle now"), and only then.
#pragma once
#include <uv.h>

class LoopFairness {
 public:
  // Must be called once for the thread.
  void open(uv_loop_t *loop);
  // Closes the handles permanently, at the end of the thread. False if nothing was open, in which case `closed` is not called.
  bool close(uv_close_cb closed, void *data);
  // Must be called for each event of a connection.
  void count_event() {
    if (++events_ == kMostEvents) end_soon();
  }

 private:
  // Maximum number of events from one call of the kernel: with fewer the turn ends by itself. The signal is delivered after the events that
  // already wait.
  static constexpr unsigned kMostEvents = 1024;
  static void end_soon();

  bool is_open_ = false;
  unsigned events_ = 0;  // since the turn began
  uv_prepare_t begin_;
  uv_signal_t signal_;
};

extern LoopFairness loop_fairness;  // belongs to the thread of the event loop
