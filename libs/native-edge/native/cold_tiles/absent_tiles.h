// Tiles of folders that were asked for a moment ago and are not there. Of a set that is asked for many such tiles they are refused from here for as
// long as that: a look-up that fails costs a sixth of the answer. A set that is asked for few looks for each, so that a new tile is served at once.
#pragma once
#include <stdint.h>

#include <vector>

#include "tile_address.h"

// What a set was asked for in vain, in the current stretch of time.
struct Misses {
  uint32_t stretch = 0;  // its number, no other set's; 0: none
  uint32_t count = 0;
  int64_t ends_at = 0;  // milliseconds of CLOCK_MONOTONIC
};

class AbsentTiles {
 public:
  // How long a tile may be refused that has come into being meanwhile, in milliseconds. Its answer forbids caches to keep it.
  static constexpr int64_t kStretchMs = 2'000;
  // So many in one stretch are looked for first.
  static constexpr uint32_t kLookedFor = 1'000;
  // Limit: tiles and columns that are remembered, of all sets; 16 bytes each.
  static constexpr size_t kPlaces = 65'536;

  // Absent: the tile, or its whole column (the folder of its x). Column: of the tile nothing is known, but its column is there.
  enum class Known { Nothing, Absent, Column };

  // Counts a tile that was not found. false: they are few, so that it is not to be remembered.
  bool count(Misses *misses, int64_t now);
  Known find(const Misses &misses, const TilePlace &place, int64_t now) const;
  // After `count`. `column`: Absent or Column, of the folder of its x.
  void add(const Misses &misses, const TilePlace &place, Known column);

 private:
  struct Place {
    uint32_t stretch = 0, what = 0, x = 0, y = 0;
    bool operator==(const Place &other) const { return stretch == other.stretch && what == other.what && x == other.x && y == other.y; }
  };
  enum What : uint32_t { Tile, Retina, AbsentColumn, StandingColumn };
  static Place place_of(const Misses &misses, const TilePlace &place, What what);
  static size_t pair_of(const Place &place);
  bool has(const Place &place) const;
  void put(const Place &place);

  std::vector<Place> places_;  // by hash, in pairs: the newer first
  uint32_t stretches_ = 0;
};

extern AbsentTiles absent_tiles;
