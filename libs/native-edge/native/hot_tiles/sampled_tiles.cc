#include "sampled_tiles.h"

#include <utility>

#include "../cold_tiles/tile_address.h"

namespace {
// Limit: samples until JavaScript takes them, which it does every few seconds; 40 bytes each. Only a stuck process reaches it.
constexpr size_t kMaxTiles = 65'536;

// Returns the last three parts of a path, "{z}/{x}/{y}.{ext}".
std::string_view end_of(std::string_view target) {
  size_t from = target.size();
  for (int parts = 0; parts < 3 && from != target.npos; parts++) from = target.rfind('/', from - 1);
  return from == target.npos ? std::string_view() : target.substr(from + 1);
}
}  // namespace

void SampledTiles::keep(const UsagePointer &version, std::string_view target, uint32_t weight, bool is_missing) {
  TilePlace place;
  if (!version || tiles_.size() >= kMaxTiles || read_tile_address(end_of(target), &place) != Address::Tile) return;
  tiles_.push_back({version, place.z, place.x, place.y, weight, is_missing});
}

std::vector<SampledTile> SampledTiles::take() {
  found_.begin_anew();
  missing_.begin_anew();
  return std::exchange(tiles_, {});
}
