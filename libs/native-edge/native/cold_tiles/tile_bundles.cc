#include "tile_bundles.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../hot_tiles/cached_file.h"
#include "file_identity.h"
#include "tile_names.h"

namespace {
// Tiles of a bundle in either direction; head, record and index of a bundle in bytes (Esri, Compact Cache V2).
constexpr uint32_t kSide = 128;
constexpr size_t kHeadBytes = 64, kRecordBytes = 8, kIndexBytes = kSide * kSide * kRecordBytes;
constexpr size_t kMaxBundlePath = 1024;

uint64_t little_endian(const char *bytes, size_t count) {
  uint64_t value = 0;
  while (count-- > 0) value = value << 8 | static_cast<unsigned char>(bytes[count]);
  return value;
}

// Names a bundle among those of a cache.
uint64_t number_of(uint32_t level, const TilePlace &place) { return uint64_t{level} << 56 | uint64_t{place.x / kSide} << 28 | place.y / kSide; }

// Version 3, offsets of 5 bytes, size of the index.
bool is_head(const char *head) { return little_endian(head, 4) == 3 && little_endian(head + 12, 4) == 5 && little_endian(head + 60, 4) == kIndexBytes; }
}  // namespace

TileBundles::Opens &TileBundles::all_open = *new Opens;

TileBundles::~TileBundles() {
  while (!open_.empty()) drop(open_.begin()->second);
}

void TileBundles::drop(Opens::iterator open) {
  open->owner->open_.erase(open->number);
  all_open.erase(open);
}

TileBundles::Found TileBundles::find(const TilePlace &place, int64_t now, Section *section) {
  const unsigned char level = place.z < levels_.size() ? static_cast<unsigned char>(levels_[place.z]) : TileNames::kNoLevel;
  if (level == TileNames::kNoLevel) return Found::Absent;
  std::shared_ptr<const Bundle> bundle;
  const Found found = bundle_at(level, place, now, &bundle);
  if (found != Found::Tile) return found;
  const size_t record = (place.y % kSide) * kSide + place.x % kSide;
  char bytes[kRecordBytes];
  const auto at = static_cast<off_t>(kHeadBytes + record * kRecordBytes);
  if (read_cached(bundle->file->fd, at, bytes, sizeof bytes) != Cached::Done) return Found::Unknown;
  const uint64_t offset = little_endian(bytes, 5), length = little_endian(bytes + 5, 3);
  if (length == 0) return Found::Absent;
  // The bundle may have grown since it was opened; otherwise JavaScript reports it.
  if (offset + length > bundle->size) {
    drop(open_.find(number_of(level, place))->second);
    return Found::Unknown;
  }
  *section = {std::move(bundle), offset, length};
  return Found::Tile;
}

TileBundles::Found TileBundles::bundle_at(uint32_t level, const TilePlace &place, int64_t now, std::shared_ptr<const Bundle> *bundle) {
  const uint64_t number = number_of(level, place);
  const auto known = open_.find(number);
  if (known != open_.end()) {
    all_open.splice(all_open.begin(), all_open, known->second);
    *bundle = known->second->bundle;
    return Found::Tile;
  }
  char path[kMaxBundlePath];
  Writer name(path, sizeof path - 1);
  name.add(folder_).add("L").add(Digits(level, 2).all()).add("/R").add(Digits(place.y / kSide * kSide, 4, 16).all());
  name.add("C").add(Digits(place.x / kSide * kSide, 4, 16).all()).add(".bundle");
  if (!name.ok()) return Found::Unknown;
  path[name.text().size()] = '\0';
  const Found found = open(path, now, bundle);
  if (found != Found::Tile) return found;
  all_open.push_front({this, number, *bundle});
  open_[number] = all_open.begin();
  while (all_open.size() > kMaxOpen) drop(std::prev(all_open.end()));
  return Found::Tile;
}

TileBundles::Found TileBundles::open(const char *path, int64_t now, std::shared_ptr<const Bundle> *bundle) const {
  const int fd = root_->open(path, now);
  if (fd == -ENOENT || fd == -ENOTDIR) return Found::Absent;
  if (fd < 0) return Found::Unknown;
  auto opened = std::make_shared<Bundle>();
  opened->file = std::make_shared<const Descriptor>(fd);
  struct stat stat;
  char head[kHeadBytes], tag[kMaxIdentity];
  // Times before 1970 are left to JavaScript, which can format them.
  if (fstat(fd, &stat) || !S_ISREG(stat.st_mode) || stat.st_mtim.tv_sec < 0 || Descriptor::leaves_few(fd)) return Found::Unknown;
  opened->size = static_cast<uint64_t>(stat.st_size);
  opened->modified = stat.st_mtim.tv_sec;
  Writer identity(tag, sizeof tag);
  add_identity(&identity, stat);
  opened->identity = identity.text();
  const bool is_whole = opened->size >= kHeadBytes + kIndexBytes && read_cached(fd, 0, head, sizeof head) == Cached::Done;
  if (!identity.ok() || !is_whole || !is_head(head)) return Found::Unknown;
  *bundle = std::move(opened);
  return Found::Tile;
}
