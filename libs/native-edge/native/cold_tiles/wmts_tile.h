// WMTS 1.0.0 GetTile by key and value (OGC 07-057r7, 8.3 and 11.2): the same tile under another address.
#pragma once
#include <cstdint>
#include <string_view>

constexpr std::string_view kWmtsPath = "/wmts";

// The path of the tile that a query asks the WMTS for, as `tilePathOf` of services/edge/src/standards/wmts-request.ts; good until the next call.
// Empty where JavaScript has to judge: anything but a request for a tile of a set that JavaScript has named for the WMTS, without a mistake and with
// nothing encoded but the slash of the format. `now`: milliseconds of CLOCK_MONOTONIC.
std::string_view wmts_tile_path(std::string_view query, int64_t now);
