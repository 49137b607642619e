// Sends a range of a file after a response head that uWS has written.
//
// uWS is told the length of a body and given one byte of it, which is removed again, so that only the head of the response is left to uWS.
// (Without any byte, newer versions of uWS consider a response of any length complete.) The sequence for one response:
//   JavaScript   writes status and headers, then a marker field, which shows whether this response is the corked one
//   take back    removes the marker
//   JavaScript   announces the length with tryEnd('x', length); head and byte are in the cork buffer
//   start        removes the byte, sends the cork buffer with MSG_MORE (the kernel waits for more before it sends a packet), then the file
//   ...          bytes that the kernel does not accept at once are sent by a transfer (transfer.h)
//   ended        tells JavaScript, which calls tryEnd('', 1): the one byte that uWS knows of is sent, so uWS considers the
//                response complete, arms its idle time-out and closes the connection if it was the last response
#pragma once
#include "transfer.h"

struct Started {
  enum Kind { Sent, Pending, Failed } kind;
  uint32_t id = 0;                       // of a pending transfer
  Outcome outcome = Outcome::Truncated;  // of a failed transfer
};

// Records the state of the cork buffer, before JavaScript writes to the response of a transfer.
void mark_cork();

// Removes what JavaScript has written since `mark_cork`. False if it did not go into the cork buffer, so that no transfer is possible (the
// response is not corked, or its connection is older than the hooks).
bool take_back_mark();

// Removes the Content-Length that JavaScript has written since `mark_cork`, so that the body ends with the connection, as in HTTP/1.0. False if it is
// not in the cork buffer: the caller must close the connection.
bool take_back_length();

// Sends `length` bytes of `file` from `offset` as the body of the response whose length JavaScript has just announced. Must be called
// after `take_back_mark` has returned true. Failed: part of the head may have been sent, so the caller must close the connection.
Started start_file_transfer(int file, int64_t offset, uint64_t length);
