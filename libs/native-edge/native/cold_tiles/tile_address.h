// Parses the end of a tile's address, "{z}/{x}/{y}.{ext}" or "{z}/{x}/{y}@2x.{ext}", like libs/tilesets/src/address.ts.
#pragma once
#include <stdint.h>

#include <string_view>

// Limit: zoom levels, as in address.ts.
constexpr uint32_t kMaxZoom = 30;

struct TilePlace {
  uint32_t z = 0, x = 0, y = 0;
  bool retina = false;         // "@2x"
  std::string_view extension;  // without the dot
};

// Malformed: not in the form of an address, or with other characters. OutOfRange: no pyramid has such a tile.
enum class Address { Tile, OutOfRange, Malformed };

Address read_tile_address(std::string_view text, TilePlace *place);

// True if a pyramid has the tile: zoom 0 has one column, or two in a geographic grid.
bool is_in_pyramid(const TilePlace &place, bool geographic);
