#include "token_area.h"

#include <string.h>

#include "../cold_tiles/tile_address.h"

namespace {
constexpr size_t kGrids = 2, kZooms = kMaxZoom + 1, kParts = 2;

// Returns the last three parts of a path; empty if it has fewer.
std::string_view place_of(std::string_view path) {
  size_t at = path.size();
  for (int parts = 0; parts < 3; parts++) {
    at = at == 0 ? path.npos : path.rfind('/', at - 1);
    if (at == path.npos) return {};
  }
  return path.substr(at + 1);
}
}  // namespace

TokenArea::TokenArea(std::string_view limits) {
  if (limits.empty()) return;
  // Limits of another size open nothing.
  limits_.resize(kGrids * kZooms * kParts, {1, 0, 1, 0});
  if (limits.size() == limits_.size() * sizeof(Limits)) memcpy(limits_.data(), limits.data(), limits.size());
}

bool TokenArea::has(std::string_view target, Grid grid) const {
  if (limits_.empty()) return true;
  TilePlace place;
  if (grid == Grid::Other || read_tile_address(place_of(target), &place) != Address::Tile) return false;
  const Limits *parts = &limits_[((static_cast<size_t>(grid) - 1) * kZooms + place.z) * kParts];
  for (size_t i = 0; i < kParts; i++) {
    const Limits &part = parts[i];
    if (place.x >= part.min_column && place.x <= part.max_column && place.y >= part.min_row && place.y <= part.max_row) return true;
  }
  return false;
}
