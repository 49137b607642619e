#include "tile_names.h"

#include <algorithm>

namespace {
// 1234 in two groups of three is "001/234"; digits beyond the groups are part of the last one.
void add_grouped(Writer *name, uint32_t value, size_t groups, size_t size) {
  const Digits digits(value, groups * size);
  for (size_t i = 0; i < groups; i++) {
    const bool is_last = i + 1 == groups;
    name->add(i ? "/" : "").add(digits.all().substr(i * size, is_last ? std::string_view::npos : size));
  }
}

void add_quadkey(Writer *name, const TilePlace &place, uint32_t row) {
  char key[kMaxZoom];
  const size_t length = std::min<size_t>(place.z, kMaxZoom);
  for (size_t i = 0; i < length; i++) {
    const size_t bit = length - 1 - i;
    key[i] = static_cast<char>('0' + (place.x >> bit & 1) + 2 * (row >> bit & 1));
  }
  name->add({key, length});
}
}  // namespace

void TileNames::write(Writer *name, const TilePlace &place) const {
  const uint32_t row = from_south ? (uint32_t{1} << place.z) - 1 - place.y : place.y;
  const uint32_t level = levels.empty() ? place.z : level_of(place.z);
  name->add(folder);
  switch (form) {
    case Form::Xyz:
      name->number(level).add("/").number(place.x).add("/").number(row);
      break;
    case Form::Tc:
    case Form::Mp: {
      const auto [groups, size] = form == Form::Tc ? std::pair<size_t, size_t>(3, 3) : std::pair<size_t, size_t>(2, 4);
      name->add(Digits(level, 2).all()).add("/");
      add_grouped(name, place.x, groups, size);
      name->add("/");
      add_grouped(name, row, groups, size);
      break;
    }
    case Form::Arcgis:
      name->add("L").add(Digits(level, 2).all()).add("/R").add(Digits(row, 8, 16).all()).add("/C").add(Digits(place.x, 8, 16).all());
      break;
    case Form::Zyx:
      name->number(level).add("/").number(row).add("/").number(place.x);
      break;
    case Form::Quadkey:
      add_quadkey(name, place, row);
      break;
  }
  name->add(place.retina ? "@2x." : ".").add(extension);
}
