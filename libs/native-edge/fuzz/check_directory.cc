#include <vector>

#include "../native/cold_tiles/tile_directory.h"
#include "check.h"

namespace {
// Returns the last entry at or before the number by examining each; -1 if no entry is that low, or if its run ends
// before the number.
long walk(const DirectoryColumns &columns, uint64_t id) {
  long last = -1;
  for (size_t i = 0; i < columns.count; i++) {
    if (static_cast<uint64_t>(columns.ids[i]) <= id) last = static_cast<long>(i);
  }
  if (last < 0) return last;
  const auto run = static_cast<uint64_t>(columns.runs[last]);
  return run == 0 || id - static_cast<uint64_t>(columns.ids[last]) < run ? last : -1;
}
}  // namespace

void check_directory(Choices &choices) {
  std::vector<double> ids, runs, offsets;
  std::vector<uint32_t> lengths;
  const size_t count = choices.below(200);
  uint64_t id = choices.below(1'000), offset = 0;
  for (size_t i = 0; i < count; i++) {
    const uint64_t run = choices.below(4);
    const auto length = static_cast<uint32_t>(choices.once_in(20) ? UINT32_MAX - choices.below(3) : choices.below(70'000));
    if (choices.once_in(4)) offset = choices.below(uint64_t{1} << 53);
    ids.push_back(static_cast<double>(id));
    runs.push_back(static_cast<double>(run));
    offsets.push_back(static_cast<double>(offset));
    lengths.push_back(length);
    offset += length;
    // Two entries with one number are invalid, and must not cause a failure.
    id += choices.once_in(50) ? 0 : choices.once_in(10) ? choices.below(1'000'000'000) : run + choices.below(2);
  }
  const DirectoryColumns columns{ids.data(), runs.data(), offsets.data(), lengths.data(), count};
  const TileDirectory directory(columns);
  for (size_t n = 0; n < 100; n++) {
    const uint64_t wanted = count > 0 && !choices.once_in(10) ? static_cast<uint64_t>(ids[choices.below(count)]) + choices.below(5) : choices.below(uint64_t{1} << 53);
    TileDirectory::Entry entry;
    const bool found = directory.find(wanted, &entry);
    const long place = walk(columns, wanted);
    REQUIRE(found == (place >= 0), "entry of " + std::to_string(wanted));
    if (!found) continue;
    const auto at = static_cast<size_t>(place);
    REQUIRE(entry.id == static_cast<uint64_t>(ids[at]) && entry.run == static_cast<uint64_t>(runs[at]), "number and run");
    REQUIRE(entry.offset == static_cast<uint64_t>(offsets[at]) && entry.length == lengths[at], "offset and length");
  }
}
