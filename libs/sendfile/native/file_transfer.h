// Sending a range of a file behind a response head that uWS has written.
//
// uWS is told the length of a body and never given one: its part of the answer is the head. The sequence for one answer:
//   JavaScript   writes status and headers, then announces the length with tryEnd('', length); all of it is in the cork buffer
//   start        sends the cork buffer with MSG_MORE (the kernel waits for more before it sends a packet), then the file
//   ...          what the kernel does not take at once goes on as a transfer (transfer.h)
//   ended        tells JavaScript, which calls tryEnd('', 0): no byte is missing of the zero that uWS knows of, so it takes the
//                answer for complete, arms its idle time-out and closes the connection if it was the last one
#pragma once
#include "transfer.h"

struct Started {
  enum Kind { Sent, Pending, NotPossible, Failed } kind;
  uint32_t id = 0;                       // of a pending one
  Outcome outcome = Outcome::Truncated;  // of a failed one
};

// Notes what is in the cork buffer, before JavaScript announces a length.
void mark_cork();

// Sends `length` bytes of `file` from `offset` as the body of the answer whose length JavaScript has just announced.
// NotPossible: nothing was done (the response is not corked, or its connection is older than the hooks). Failed: the head may have
// been sent, so the caller must close the connection.
Started start_file_transfer(int file, int64_t offset, uint64_t length);
