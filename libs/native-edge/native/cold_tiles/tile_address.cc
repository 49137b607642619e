#include "tile_address.h"

#include <algorithm>

namespace {
constexpr size_t kMaxDigits = 10, kMaxExtension = 8;
constexpr uint64_t kTooLarge = UINT64_MAX;

// Reads a whole number in canonical decimal form, as `kTooLarge` if it is out of range; false for any other text.
bool read_index(std::string_view text, uint64_t *value) {
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return false;
  *value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    if (text.size() <= kMaxDigits) *value = *value * 10 + static_cast<uint64_t>(c - '0');
  }
  if (text.size() > kMaxDigits) *value = kTooLarge;
  return true;
}

bool is_extension(std::string_view text) {
  return !text.empty() && text.size() <= kMaxExtension && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
  });
}
}  // namespace

Address read_tile_address(std::string_view text, TilePlace *place) {
  constexpr std::string_view retina = "@2x";
  const size_t first = text.find('/'), second = first == text.npos ? text.npos : text.find('/', first + 1);
  const size_t dot = second == text.npos ? text.npos : text.find('.', second + 1);
  if (dot == text.npos) return Address::Malformed;
  place->extension = text.substr(dot + 1);
  std::string_view row = text.substr(second + 1, dot - second - 1);
  place->retina = row.size() > retina.size() && row.substr(row.size() - retina.size()) == retina;
  if (place->retina) row.remove_suffix(retina.size());
  uint64_t z, x, y;
  const bool ok = is_extension(place->extension) && read_index(text.substr(0, first), &z) &&
                  read_index(text.substr(first + 1, second - first - 1), &x) && read_index(row, &y);
  if (!ok) return Address::Malformed;
  if (z > kMaxZoom || x >> (z + 1) || y >> z) return Address::OutOfRange;
  place->z = static_cast<uint32_t>(z);
  place->x = static_cast<uint32_t>(x);
  place->y = static_cast<uint32_t>(y);
  return Address::Tile;
}

bool is_in_pyramid(const TilePlace &place, bool geographic) { return geographic || !(place.x >> place.z); }
