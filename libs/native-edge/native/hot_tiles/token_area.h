// The area of a token: for each grid and zoom the tiles that touch it, as JavaScript has computed them (`touchedLimits` of libs/tilesets).
#pragma once
#include <stdint.h>

#include <string_view>
#include <vector>

// Grid of a tile's set. The values are shared with src/hot-tiles/responses.ts. Other: JavaScript decides whether its tiles lie in an area.
enum class Grid : uint8_t { Other = 0, Mercator = 1, Geographic = 2 };

class TokenArea {
 public:
  TokenArea() = default;
  // `limits`: for both grids, zooms 0 to 30 and two parts: minimum and maximum of column and row as 32-bit numbers in the machine's order. A part without
  // tiles has a minimum above its maximum. Empty: the token may read everywhere.
  explicit TokenArea(std::string_view limits);
  bool is_everywhere() const { return limits_.empty(); }
  // False if the tile of this path ("/tiles/.../{z}/{x}/{y}.{ext}") does not touch the area, or if only JavaScript can tell.
  bool has(std::string_view target, Grid grid) const;

 private:
  struct Limits {
    uint32_t min_column, max_column, min_row, max_row;
  };
  std::vector<Limits> limits_;
};
