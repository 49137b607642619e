// Answering a request from the response table. uWS and JavaScript do not see such a request.
#pragma once
#include "../uws/connection.h"
#include "response_table.h"
#include "../uws/request_head.h"

// Counted since the start; JavaScript adds them to its own.
struct ResponseCounts {
  uint64_t answers = 0;     // 200 and 304
  uint64_t not_modified = 0;  // of answers: 304
  uint64_t body_bytes = 0;  // of all answers
  uint64_t truncated = 0;   // files that ended before their length
  uint64_t stalled = 0;     // clients that took nothing of a file for too long
  uint64_t refusals[kRefusals] = {};
};
extern ResponseCounts hot_counts;

// True: the request is answered, or will be as soon as the client reads, or its connection has been closed. False: it is for the
// JavaScript handler. For plain requests on connections on which nothing else is under way.
bool answer_hot(Connection &connection, const RequestHead &request);
