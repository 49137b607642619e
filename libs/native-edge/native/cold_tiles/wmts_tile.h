// WMTS 1.0.0 GetTile requests in key-value form (OGC 07-057r7, 8.3 and 11.2): the same tile under another address.
#pragma once
#include <cstdint>
#include <string_view>

constexpr std::string_view kWmtsPath = "/wmts";

// Returns the path of the tile that a query requests from the WMTS, like `tilePathOf` of services/edge/src/standards/wmts-request.ts; valid until
// the next call. Empty if JavaScript has to decide. That is the case unless the request is for a tile of a set that JavaScript has named for the
// WMTS, without errors, and with nothing encoded except the slash of the format. `now` is in milliseconds of CLOCK_MONOTONIC.
std::string_view wmts_tile_path(std::string_view query, int64_t now);
