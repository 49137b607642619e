#include <set>
#include <string>
#include <tuple>

#include "../native/cold_tiles/absent_tiles.h"
#include "check.h"

namespace {
using Known = AbsentTiles::Known;

struct Set {
  Misses misses;
  int64_t began_at = -1;
  std::set<std::tuple<uint32_t, uint32_t, uint32_t, bool>> tiles;
  std::set<std::tuple<uint32_t, uint32_t>> absent_columns, standing_columns;
};

TilePlace some_place(Choices &choices) {
  TilePlace place;
  place.z = static_cast<uint32_t>(choices.below(3));
  place.x = static_cast<uint32_t>(choices.below(8));
  place.y = static_cast<uint32_t>(choices.below(64));
  place.retina = choices.once_in(8);
  return place;
}

void miss(Choices &choices, Set &set, const TilePlace &place, int64_t now) {
  if (set.began_at < 0 || now >= set.began_at + AbsentTiles::kStretchMs) {
    set = {set.misses};
    set.began_at = now;
  }
  if (!absent_tiles.count(&set.misses, now)) return;
  const Known column = choices.of<Known>({Known::Nothing, Known::Absent, Known::Column});
  absent_tiles.add(set.misses, place, column);
  if (column == Known::Absent) set.absent_columns.insert({place.z, place.x});
  else set.tiles.insert({place.z, place.x, place.y, place.retina});
  if (column == Known::Column) set.standing_columns.insert({place.z, place.x});
  REQUIRE(absent_tiles.find(set.misses, place, now) == Known::Absent, "what was just added");
}

// The cache must know only entries that were added in this period, regardless of other entries that have replaced them.
void check_find(const Set &set, const TilePlace &place, int64_t now) {
  const Known known = absent_tiles.find(set.misses, place, now);
  if (known == Known::Nothing) return;
  REQUIRE(now < set.began_at + AbsentTiles::kStretchMs, "after its stretch");
  const bool is_absent = set.tiles.count({place.z, place.x, place.y, place.retina}) || set.absent_columns.count({place.z, place.x});
  REQUIRE(known == Known::Absent ? is_absent : set.standing_columns.count({place.z, place.x}) == 1, "what nobody has added");
}
}  // namespace

void check_absent(Choices &choices) {
  static int64_t now = 0;
  Set sets[3];
  for (int step = 0; step < 8'000 && !choices.exhausted(); step++) {
    now += choices.once_in(2'000) ? static_cast<int64_t>(choices.below(3'000)) : 0;
    Set &set = sets[choices.below(3)];
    if (choices.once_in(4'000)) set = {};  // dropped, and put again
    const TilePlace place = some_place(choices);
    check_find(set, place, now);
    if (choices.once_in(2)) miss(choices, set, place, now);
  }
}
