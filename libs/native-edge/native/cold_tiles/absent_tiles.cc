#include "absent_tiles.h"

AbsentTiles absent_tiles;

bool AbsentTiles::count(Misses *misses, int64_t now) {
  if (now >= misses->ends_at) *misses = {++stretches_, 0, now + kStretchMs};
  return ++misses->count > kLookedFor;
}

AbsentTiles::Known AbsentTiles::find(const Misses &misses, const TilePlace &place, int64_t now) const {
  if (misses.count <= kLookedFor || now >= misses.ends_at || places_.empty()) return Known::Nothing;
  if (has(place_of(misses, place, AbsentColumn)) || has(place_of(misses, place, place.retina ? Retina : Tile))) return Known::Absent;
  return has(place_of(misses, place, StandingColumn)) ? Known::Column : Known::Nothing;
}

void AbsentTiles::add(const Misses &misses, const TilePlace &place, Known column) {
  if (places_.empty()) places_.resize(kPlaces);
  if (column == Known::Absent) return put(place_of(misses, place, AbsentColumn));
  if (column == Known::Column) put(place_of(misses, place, StandingColumn));
  put(place_of(misses, place, place.retina ? Retina : Tile));
}

AbsentTiles::Place AbsentTiles::place_of(const Misses &misses, const TilePlace &place, What what) {
  const bool is_column = what == AbsentColumn || what == StandingColumn;
  return {misses.stretch, place.z << 2 | what, place.x, is_column ? 0 : place.y};
}

size_t AbsentTiles::pair_of(const Place &place) {
  constexpr uint64_t odd = 0x9e3779b97f4a7c15u;
  uint64_t hash = (uint64_t{place.stretch} << 32 | place.what) * odd;
  hash = (hash ^ hash >> 32 ^ (uint64_t{place.x} << 32 | place.y)) * odd;
  return (hash >> 40) % (kPlaces / 2) * 2;
}

bool AbsentTiles::has(const Place &place) const {
  const Place *pair = &places_[pair_of(place)];
  return pair[0] == place || pair[1] == place;
}

void AbsentTiles::put(const Place &place) {
  Place *pair = &places_[pair_of(place)];
  if (pair[0] == place) return;
  pair[1] = pair[0];
  pair[0] = place;
}
