// The end of a tile's address, "{z}/{x}/{y}.{ext}" or "{z}/{x}/{y}@2x.{ext}", as libs/tilesets/src/address.ts reads it.
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

// Malformed: not the form of an address, or with more than that form's characters. OutOfRange: no pyramid has such a tile.
enum class Address { Tile, OutOfRange, Malformed };

Address read_tile_address(std::string_view text, TilePlace *place);

// Whether a pyramid has the tile: one column at zoom 0, or two in a geographic grid.
bool is_in_pyramid(const TilePlace &place, bool geographic);
