#include "tile_archive.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

namespace {
// Directories below the root on the way to a tile, as libs/tilesets/src/pmtiles/layout.ts limits them.
constexpr int kMaxLeafDepth = 3;
}  // namespace

TileArchive::Leaves TileArchive::all_leaves;
size_t TileArchive::leaf_bytes = 0;

uint64_t pmtiles_id(const TilePlace &place) {
  uint64_t id = ((uint64_t{1} << 2 * place.z) - 1) / 3;
  uint64_t x = place.x, y = place.y;
  for (uint32_t level = place.z; level-- > 0;) {
    const uint64_t side = uint64_t{1} << level, right = x & side, low = y & side;
    id += ((3 * right) ^ low) << level;
    if (low) continue;
    if (right) {
      x = side - 1 - (x & (side - 1));
      y = side - 1 - (y & (side - 1));
    }
    std::swap(x, y);
  }
  return id;
}

TileArchive::TileArchive(const Facts &facts, const DirectoryColumns &root) : facts_(facts), root_(decoded(root)) {
  facts_.fd = fcntl(facts.fd, F_DUPFD_CLOEXEC, 0);
}

TileArchive::~TileArchive() {
  while (!leaves_.empty()) drop_leaf(leaves_.begin()->second);
  if (facts_.fd >= 0) close(facts_.fd);
}

TileArchive::Directory TileArchive::decoded(const DirectoryColumns &columns) {
  Directory directory(columns.count);
  for (size_t i = 0; i < columns.count; i++) {
    directory[i] = {static_cast<uint64_t>(columns.ids[i]), static_cast<uint64_t>(columns.offsets[i]), static_cast<uint64_t>(columns.runs[i]),
                    columns.lengths[i]};
  }
  return directory;
}

void TileArchive::drop_leaf(Leaves::iterator leaf) {
  leaf_bytes -= leaf->bytes();
  leaf->archive->leaves_.erase(leaf->offset);
  all_leaves.erase(leaf);
}

void TileArchive::put_leaf(uint64_t offset, const DirectoryColumns &columns) {
  if (leaves_.count(offset)) return;
  all_leaves.push_front({this, offset, decoded(columns)});
  leaves_[offset] = all_leaves.begin();
  leaf_bytes += all_leaves.front().bytes();
  while (leaf_bytes > kMaxLeafBytes) drop_leaf(std::prev(all_leaves.end()));
}

const TileArchive::Directory *TileArchive::leaf_at(uint64_t offset) {
  const auto found = leaves_.find(offset);
  if (found == leaves_.end()) return nullptr;
  all_leaves.splice(all_leaves.begin(), all_leaves, found->second);
  return &found->second->entries;
}

// The last entry at or before the number, if it is a leaf or a long enough run.
const TileArchive::Entry *TileArchive::entry_of(const Directory &directory, uint64_t id) {
  auto at = std::upper_bound(directory.begin(), directory.end(), id, [](uint64_t one, const Entry &entry) { return one < entry.id; });
  if (at == directory.begin()) return nullptr;
  --at;
  return at->run == 0 || id - at->id < at->run ? &*at : nullptr;
}

TileArchive::Found TileArchive::find(const TilePlace &place, Section *section) {
  if (place.z < facts_.min_zoom || place.z > facts_.max_zoom || !is_in_pyramid(place, false)) return Found::Absent;
  const uint64_t id = pmtiles_id(place);
  const Directory *directory = &root_;
  for (int depth = 0; depth <= kMaxLeafDepth && directory; depth++) {
    const Entry *entry = entry_of(*directory, id);
    if (!entry) return Found::Absent;
    const Section &within = entry->run ? facts_.tiles : facts_.leaves;
    if (entry->offset + entry->length > within.length) return Found::Unknown;
    if (entry->run) {
      *section = {within.offset + entry->offset, entry->length};
      return Found::Tile;
    }
    directory = leaf_at(within.offset + entry->offset);
  }
  return Found::Unknown;
}
