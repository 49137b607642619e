// The checks, each a function of the choices of one case. A failed `REQUIRE` ends the process with its message and the seed of the case.
#pragma once
#include <string>

#include "choices.h"

// Compares request_head.cc, BodyCursor and token_form.cc with a plain reading of the same bytes.
void check_heads(Choices &choices);
// Compares ResponseTable with a model of std::map.
void check_table(Choices &choices);
// Compares tile_database.cc with the tiles from which its pages were written, and reads damaged pages.
void check_database(Choices &choices);
// Compares AbsentTiles with sets of the added tiles.
void check_absent(Choices &choices);
// Compares TileDirectory with a walk over the columns from which it was built.
void check_directory(Choices &choices);
// Compares DocumentTable with a list of the put documents.
void check_documents(Choices &choices);
// Compares TileBundles with the tiles from which bundles were written, and TileNames with printf; reads damaged bundles, and directories of any numbers.
void check_bundles(Choices &choices);
// Runs request_pipeline.cc, tile_response.cc and transfer.cc: a connection with pipelined requests, in pieces, whose sizes must not
// matter.
void check_request_pipeline(Choices &choices);
// Findings of earlier runs as fixed cases, since a seed yields another case as soon as the generator changes.
void check_request_pipeline_regressions();

[[noreturn]] void fail(const std::string &words);
// Returns the text with characters that cannot be printed as \xNN.
std::string shown(std::string_view text);

#define REQUIRE(condition, words) \
  ((condition) ? void() : fail(std::string(#condition) + " at " + __FILE__ + ":" + std::to_string(__LINE__) + ": " + (words)))
