#include "tile_archive.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace {
// Limit: directories below the root on the way to a tile, as in libs/tilesets/src/pmtiles/layout.ts.
constexpr int kMaxLeafDepth = 3;
// Interval in ms at which uses of an extent are recorded, equal to NOTE_USE_MS of
// libs/tilesets/src/remote/block-cache.ts.
constexpr int64_t kNoteUseMs = 60'000;

bool is_same_file(int one, int other) {
  struct stat a, b;
  return !fstat(one, &a) && !fstat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}
}  // namespace

TileArchive::Leaves &TileArchive::all_leaves = *new Leaves;
size_t TileArchive::leaf_bytes = 0;
TileArchive::Extents &TileArchive::all_extents = *new Extents;
uint64_t TileArchive::placed = 0, TileArchive::placed_bytes = 0;

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

TileArchive::TileArchive(const Facts &facts, const DirectoryColumns &root) : facts_(facts), root_(root) {}

TileArchive::~TileArchive() {
  while (!leaves_.empty()) drop_leaf(leaves_.begin()->second);
  while (!extents_.empty()) drop_extent(extents_.begin()->second);
}

void TileArchive::drop_leaf(Leaves::iterator leaf) {
  leaf_bytes -= leaf->bytes();
  leaf->archive->leaves_.erase(leaf->offset);
  all_leaves.erase(leaf);
}

void TileArchive::put_leaf(uint64_t offset, const DirectoryColumns &columns) {
  if (leaves_.count(offset)) return;
  all_leaves.push_front({this, offset, TileDirectory(columns)});
  leaves_[offset] = all_leaves.begin();
  leaf_bytes += all_leaves.front().bytes();
  while (leaf_bytes > kMaxLeafBytes) drop_leaf(std::prev(all_leaves.end()));
}

const TileDirectory *TileArchive::leaf_at(uint64_t offset) {
  const auto found = leaves_.find(offset);
  if (found == leaves_.end()) return nullptr;
  all_leaves.splice(all_leaves.begin(), all_leaves, found->second);
  return &found->second->directory;
}

void TileArchive::drop_extent(Extents::iterator extent) {
  close(extent->fd);
  extent->archive->extents_.erase(extent->index);
  all_extents.erase(extent);
}

void TileArchive::put_extent(uint64_t index, int fd, std::string_view present) {
  const auto known = extents_.find(index);
  if (known != extents_.end()) {
    if (is_same_file(known->second->fd, fd)) {
      known->second->present = present;
      return;
    }
    drop_extent(known->second);
  }
  const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return;
  all_extents.push_front({this, index, own, std::string(present), 0});
  extents_[index] = all_extents.begin();
  while (all_extents.size() > kMaxExtents) drop_extent(std::prev(all_extents.end()));
}

bool TileArchive::place(const Section &section, int64_t now, Place *place) {
  if (!facts_.extent_bytes) {
    *place = {facts_.file ? facts_.file->fd : -1, static_cast<int64_t>(section.offset)};
    return true;
  }
  const uint64_t index = section.offset / facts_.extent_bytes, at = section.offset % facts_.extent_bytes;
  const auto found = extents_.find(index);
  if (found == extents_.end() || section.length == 0 || at + section.length > facts_.extent_bytes) return false;
  Extent &extent = *found->second;
  const uint64_t last = (at + section.length - 1) / facts_.block_bytes;
  if (last >= extent.present.size()) return false;
  for (uint64_t block = at / facts_.block_bytes; block <= last; block++) {
    if (extent.present[block] != 1) return false;
  }
  all_extents.splice(all_extents.begin(), all_extents, found->second);
  if (now - extent.used_at >= kNoteUseMs) {
    extent.used_at = now;
    futimens(extent.fd, nullptr);
  }
  placed++;
  placed_bytes += section.length;
  *place = {extent.fd, static_cast<int64_t>(at)};
  return true;
}

void TileArchive::forget_evicted() {
  for (auto extent = all_extents.begin(); extent != all_extents.end();) {
    const auto each = extent++;
    struct stat stat;
    if (fstat(each->fd, &stat) || stat.st_nlink == 0) drop_extent(each);
  }
}

TileArchive::Found TileArchive::find(const TilePlace &place, Section *section) {
  if (place.z < facts_.min_zoom || place.z > facts_.max_zoom || !is_in_pyramid(place, false)) return Found::Absent;
  const uint64_t id = pmtiles_id(place);
  const TileDirectory *directory = &root_;
  for (int depth = 0; depth <= kMaxLeafDepth && directory; depth++) {
    TileDirectory::Entry entry;
    if (!directory->find(id, &entry)) return Found::Absent;
    const Section &within = entry.run ? facts_.tiles : facts_.leaves;
    if (entry.offset + entry.length > within.length) return Found::Unknown;
    if (entry.run) {
      *section = {within.offset + entry.offset, entry.length};
      return Found::Tile;
    }
    directory = leaf_at(within.offset + entry.offset);
  }
  return Found::Unknown;
}
