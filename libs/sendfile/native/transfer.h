// Sending a range of a file behind a response head.
//
// uWS is told the length of a body and never given one: its part of the answer is the head. The sequence for one answer:
//   JavaScript    writes status and headers, then announces the length with tryEnd('', length); all of it is in the cork buffer
//   start         sends the cork buffer with MSG_MORE (the kernel waits for more before it fills up a packet), then the file
//   ... EAGAIN    the kernel's buffer is full: polls for writable, and goes on in on_writable, up to kQuota each time
//   settle        tells JavaScript, which calls tryEnd('', 0): no byte is missing of the zero that uWS knows of, so it takes the
//                 answer for complete, arms its idle time-out and closes the connection if it was the last one
#pragma once
#include <stdint.h>

#include "usockets.h"

struct Connection;
struct Transfer;

// The values are shared with src/native.ts.
enum class Outcome { Sent = 0, Aborted = 1, Truncated = 2, Stalled = 3 };

struct Started {
  enum Kind { Sent, Pending, NotPossible, Failed } kind;
  uint32_t id = 0;                        // of a pending one
  Outcome outcome = Outcome::Truncated;   // of a failed one
  uint64_t sent = 0;
};

// Notes what is in the cork buffer, before JavaScript announces a length.
void mark_cork();

// Sends `length` bytes of `file` from `offset` as the body of the answer whose length JavaScript has just announced.
// NotPossible: nothing was done (the response is not corked, or its connection is older than the hooks). Failed: the head may have
// been sent, so the caller must close the connection.
Started start_transfer(int file, int64_t offset, uint64_t length);

// Ends what is being sent on a connection that is closing; the returned transfer is to be reported with report_aborted.
Transfer *detach_transfer(Connection &connection);
void report_aborted(Transfer *transfer);

us_socket_t *on_writable(us_socket_t *socket);
us_socket_t *on_timeout(us_socket_t *socket);

void poll_unfinished_transfers();
