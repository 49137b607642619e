// The checks, each a function of one case's choices. What does not hold ends the process with the words of `require` and the case's seed.
#pragma once
#include <string>

#include "choices.h"

// request_head.cc, BodyCursor and token_form.cc against a plain reading of the same bytes.
void check_heads(Choices &choices);
// ResponseTable against a model out of std::map.
void check_table(Choices &choices);
// tile_database.cc against the tiles that its pages were written from, and over damaged pages.
void check_database(Choices &choices);
// AbsentTiles against sets of what was added.
void check_absent(Choices &choices);
// TileDirectory against a walk over the columns that it was made from.
void check_directory(Choices &choices);
// DocumentTable against a list of what was put.
void check_documents(Choices &choices);
// request_pipeline.cc, tile_response.cc and transfer.cc: a connection with pipelined requests, in pieces; the same whatever the pieces.
void check_request_pipeline(Choices &choices);
// What earlier runs have found, as fixed cases: a seed means another case as soon as the generator changes.
void check_request_pipeline_regressions();

[[noreturn]] void fail(const std::string &words);
// The text with what cannot be printed as \xNN.
std::string shown(std::string_view text);

#define REQUIRE(condition, words) \
  ((condition) ? void() : fail(std::string(#condition) + " at " + __FILE__ + ":" + std::to_string(__LINE__) + ": " + (words)))
