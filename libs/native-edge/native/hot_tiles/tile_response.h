// Answers requests from the response table. uWS and JavaScript do not see such requests.
#pragma once
#include <time.h>

#include "../uws/connection.h"
#include "response_table.h"
#include "../uws/request_head.h"

// The current time of all clocks that responses use. `seconds` since 1970 is for their Date.
struct Now : Moment {
  time_t seconds;
};

Now this_moment();

// The parts of a tile's response that are sent.
struct Wanted {
  bool head_only = false;     // only the head of the 200: the method is HEAD
  bool not_modified = false;  // the 304
  bool is_last = false;       // the connection ends after this response
};

// Counts since the start, which JavaScript adds to its own.
struct ResponseCounts {
  uint64_t answers = 0;     // 200 and 304
  uint64_t cold = 0;        // tiles among `answers` that were read from their folder or archive
  uint64_t not_modified = 0;  // 304 among `answers`
  uint64_t tile_documents = 0, catalog_documents = 0;  // documents (document_table.h) of tiles, WMTS among them, and of the catalog
  uint64_t body_bytes = 0;  // of all responses
  uint64_t truncated = 0;   // files that ended before their length
  uint64_t stalled = 0;     // clients that read nothing of a file for too long
  uint64_t refusals[kRefusals] = {};
};
extern ResponseCounts hot_counts;

// True if the request is answered, or will be as soon as the client reads, or its connection has been closed. False if the
// JavaScript handler must answer it. Only for plain requests on connections without a response in progress.
bool answer_hot(Connection &connection, const RequestHead &request);

// The functions below are for responses that are built elsewhere.

// Returns "Date: ... GMT" and the empty line, the end of every head.
std::string_view date_line(time_t now);
// Returns the parts of a response that the request wants, regardless of the client's copy.
Wanted wanted_of(const RequestHead &request);
// Also considers the client's copy and the encodings that it accepts, for a tile that it may read. False if JavaScript must decide.
bool choose(const RequestHead &request, const TileParts &tile, Wanted *wanted);
// Sends a response of which `sent` bytes were already sent, and counts its body including those. False if its file is not in
// memory.
bool send_tile(Connection &connection, TilePointer tile, const Wanted &wanted, const Now &now, const Parties &parties, size_t sent = 0);
