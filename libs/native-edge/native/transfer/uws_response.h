// Sending a range of a file behind a response head that uWS has written.
//
// uWS is told the length of a body and given one byte of it, which is taken back: its part of the answer is the head. (With no byte at
// all newer versions of uWS take an answer of any length for complete.) The sequence for one answer:
//   JavaScript   writes status and headers, then a marker field, which shows whether this response is the corked one
//   take back    removes the marker
//   JavaScript   announces the length with tryEnd('x', length); head and byte are in the cork buffer
//   start        removes the byte, sends the cork buffer with MSG_MORE (the kernel waits for more before it sends a packet), then the file
//   ...          what the kernel does not take at once goes on as a transfer (transfer.h)
//   ended        tells JavaScript, which calls tryEnd('', 1): no byte is missing of the one that uWS knows of, so it takes the
//                answer for complete, arms its idle time-out and closes the connection if it was the last one
#pragma once
#include "transfer.h"

struct Started {
  enum Kind { Sent, Pending, Failed } kind;
  uint32_t id = 0;                       // of a pending one
  Outcome outcome = Outcome::Truncated;  // of a failed one
};

// Notes what is in the cork buffer, before JavaScript writes to the response that a transfer is for.
void mark_cork();

// Takes back what JavaScript has written since `mark_cork`. false: it has not gone into the cork buffer, so that no transfer is
// possible (the response is not corked, or its connection is older than the hooks).
bool take_back_mark();

// Sends `length` bytes of `file` from `offset` as the body of the answer whose length JavaScript has just announced.
// To be called after `take_back_mark` has answered true. Failed: some of the head may have been sent, so the caller must close the
// connection.
Started start_file_transfer(int file, int64_t offset, uint64_t length);
