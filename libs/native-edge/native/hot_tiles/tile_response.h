// Answering a request from the response table. uWS and JavaScript do not see such a request.
#pragma once
#include <time.h>

#include "../uws/connection.h"
#include "response_table.h"
#include "../uws/request_head.h"

// This moment, by all clocks that answers look at; seconds since 1970 for their Date.
struct Now : Moment {
  time_t seconds;
};

Now this_moment();

// What is sent of a tile.
struct Wanted {
  bool head_only = false;     // of the 200: the method is HEAD
  bool not_modified = false;  // the 304
  bool is_last = false;       // the connection ends with it
};

// Counted since the start; JavaScript adds them to its own.
struct ResponseCounts {
  uint64_t answers = 0;     // 200 and 304
  uint64_t cold = 0;        // of these, tiles that were read from their folder or archive
  uint64_t not_modified = 0;  // of answers: 304
  uint64_t tile_documents = 0, catalog_documents = 0;  // documents (document_table.h) of tiles, WMTS among them, and of the catalog
  uint64_t body_bytes = 0;  // of all answers
  uint64_t truncated = 0;   // files that ended before their length
  uint64_t stalled = 0;     // clients that took nothing of a file for too long
  uint64_t refusals[kRefusals] = {};
};
extern ResponseCounts hot_counts;

// True: the request is answered, or will be as soon as the client reads, or its connection has been closed. False: it is for the
// JavaScript handler. For plain requests on connections on which nothing else is under way.
bool answer_hot(Connection &connection, const RequestHead &request);

// For answers that are put together elsewhere:
// "Date: ... GMT" and the empty line, the end of every head.
std::string_view date_line(time_t now);
// What of an answer the request wants, whatever the client has already.
Wanted wanted_of(const RequestHead &request);
// And of this tile, which it may have. false: JavaScript has to judge.
bool choose(const RequestHead &request, const TileParts &tile, Wanted *wanted);
// Sends an answer, of which so many bytes have gone already, and counts its body, also for these. false: its file is not in memory.
bool send_tile(Connection &connection, TilePointer tile, const Wanted &wanted, const Now &now, const Parties &parties, size_t sent = 0);
