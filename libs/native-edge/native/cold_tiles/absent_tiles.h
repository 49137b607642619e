// Tiles of folders that were recently requested and do not exist. If a set gets many requests for such tiles, they are refused from this cache for
// a short time, since a failing look-up costs a sixth of the response. A set with few of them looks up each, so that a new tile is served at once.
#pragma once
#include <stdint.h>

#include <vector>

#include "tile_address.h"

// The requests for missing tiles of a set in the current period.
struct Misses {
  uint32_t stretch = 0;  // number of the period, unique among all sets; 0: none
  uint32_t count = 0;
  int64_t ends_at = 0;  // milliseconds of CLOCK_MONOTONIC
};

class AbsentTiles {
 public:
  // Time in milliseconds for which a tile that was created meanwhile may still be refused. The refusal forbids caches to store it.
  static constexpr int64_t kStretchMs = 2'000;
  // Number of missing tiles in one period that are looked up before the cache is used.
  static constexpr uint32_t kLookedFor = 1'000;
  // Limit: remembered tiles and columns of all sets; 16 bytes each.
  static constexpr size_t kPlaces = 65'536;

  // Absent: the tile or its whole column (the folder of its x) is missing. Column: the column exists, and nothing is known of the tile.
  enum class Known { Nothing, Absent, Column };

  // Counts a tile that was not found. False if there are still so few that it must not be remembered.
  bool count(Misses *misses, int64_t now);
  Known find(const Misses &misses, const TilePlace &place, int64_t now) const;
  // Must follow `count`. `column` is Absent or Column, the state of the folder of its x.
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

  std::vector<Place> places_;  // by hash, in pairs with the newer first
  uint32_t stretches_ = 0;
};

extern AbsentTiles absent_tiles;
