// Answering a request from the hot table, without JavaScript and without uWS, which does not even see it.
#pragma once
#include "connection.h"
#include "hot_table.h"
#include "request_head.h"

// Counted since the start; JavaScript adds them to its own.
struct HotCounts {
  uint64_t answers = 0;     // 200 and 304
  uint64_t body_bytes = 0;  // of all answers
  uint64_t refusals[kRefusals] = {};
};
extern HotCounts hot_counts;

// True: the request is answered, or will be as soon as the client reads, or its connection has been closed. False: it is for the
// JavaScript handler. To be called for plain requests on connections that have nothing else under way.
bool answer_hot(Connection &connection, const RequestHead &request);
