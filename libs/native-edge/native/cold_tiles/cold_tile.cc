#include "cold_tile.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "../hot_tiles/cached_file.h"
#include "../hot_tiles/response_table.h"
#include "../transfer/residency.h"
#include "../uws/usockets.h"
#include "file_identity.h"

namespace {
// Memory for one tile at a time, on one thread. The body is read first, since its first bytes determine the head, which is then written
// directly in front of it, so that both are sent in one piece.
constexpr size_t kMaxDate = 64, kRoom = ColdTile::kMaxHead + kMaxDate;
char memory[kRoom + std::max(kMostCopied, TileDatabase::kMaxTile)], heads[2 * ColdTile::kMaxHead];
char *const kBody = memory + kRoom;

constexpr size_t kMaxPath = 1024;
// Time in ms for which a tile that is sent must still be current: the response table checks it again after 10 s.
constexpr int64_t kKeptAheadMs = 10'000;

// Interprets a result of TileRoot.
bool is_absent(int opened) { return opened == -ENOENT || opened == -ENOTDIR; }
}  // namespace

ColdTile::~ColdTile() {
  if (is_own_file_ && !shared_file_) close(file_);
}

std::shared_ptr<const Descriptor> ColdTile::share_file() {
  if (shared_file_) return shared_file_;
  if (is_own_file_) return shared_file_ = std::make_shared<const Descriptor>(file_);
  if (set_.bundles) return section_.bundle->file;
  return is_evictable() ? Descriptor::copy_of(file_) : set_.archive->facts().file;
}

ColdTile::Opened ColdTile::open(const TilePlace &place, int64_t now) {
  if (set_.database) return read_database(place);
  if (set_.bundles) return find_in_bundle(place, now);
  return set_.archive ? find_in_archive(place, now) : open_file(place, now);
}

ColdTile::Opened ColdTile::open_file(const TilePlace &place, int64_t now) {
  const AbsentTiles::Known known = set_.is_kept() ? AbsentTiles::Known::Nothing : absent_tiles.find(set_.misses, place, now);
  if (known == AbsentTiles::Known::Absent) return Opened::Absent;
  if (!set_.names.has(place)) return Opened::Absent;
  char path[kMaxPath];
  Writer name(path, sizeof path - 1);
  set_.names.write(&name, place);
  if (!name.ok()) return Opened::NotNow;
  path[name.text().size()] = '\0';
  const int opened = set_.root->open(path, now);
  // The kernel also caches negative entries.
  if (is_absent(opened) && set_.is_kept()) return Opened::NotNow;
  if (is_absent(opened)) {
    if (absent_tiles.count(&set_.misses, now)) absent_tiles.add(set_.misses, place, known == AbsentTiles::Known::Column ? known : look_for_column(path));
    return Opened::Absent;
  }
  if (opened == -EMFILE) response_table.release_files();
  if (opened < 0) return Opened::NotNow;
  file_ = opened;
  is_own_file_ = true;
  struct stat stat;
  // JavaScript formats times before 1970.
  if (fstat(file_, &stat) || !S_ISREG(stat.st_mode) || stat.st_mtim.tv_sec < 0) return Opened::NotNow;
  if (set_.is_kept()) return take_kept(stat);
  if (stat.st_size == 0) return Opened::Absent;
  size_ = static_cast<uint64_t>(stat.st_size);
  modified_ = stat.st_mtim.tv_sec;
  Writer tag(tag_, sizeof tag_);
  tag.add("\"");
  add_identity(&tag, stat).add("\"");
  tag_size_ = tag.text().size();
  return tag.ok() ? Opened::Tile : Opened::NotNow;
}

// Takes a tile that was fetched or made, as `KeptFiles` of libs/tilesets/src/kept keeps it. An empty file is a tile that does not exist.
ColdTile::Opened ColdTile::take_kept(const struct stat &stat) {
  constexpr int64_t ms_per_second = 1'000, ns_per_ms = 1'000'000, us_per_second = 1'000'000;
  timespec clock;
  if (stat.st_size == 0 || clock_gettime(CLOCK_REALTIME, &clock)) return Opened::NotNow;
  const int64_t changed = stat.st_ctim.tv_sec * ms_per_second + stat.st_ctim.tv_nsec / ns_per_ms;
  const int64_t age = std::abs(clock.tv_sec * ms_per_second + clock.tv_nsec / ns_per_ms - changed);
  // The response table may keep it for as long as it keeps any.
  if (changed < set_.old_before || set_.kept_ms - age <= kKeptAheadMs) return Opened::NotNow;
  current_for_ = static_cast<uint64_t>((set_.kept_ms - age) / ms_per_second);
  size_ = static_cast<uint64_t>(stat.st_size);
  const int64_t modified = stat.st_mtim.tv_sec * us_per_second + (stat.st_mtim.tv_nsec + 500) / 1'000;
  modified_ = modified / us_per_second;
  Writer tag(tag_, sizeof tag_);
  tag.add("\"").number(static_cast<uint64_t>(modified), 36).add("-").number(size_, 36).add("\"");
  tag_size_ = tag.text().size();
  return tag.ok() ? Opened::Tile : Opened::NotNow;
}

// Looks for the folder that would contain a tile's file, if that is the folder of its column. Shortens `path`.
AbsentTiles::Known ColdTile::look_for_column(char *path) const {
  if (!set_.names.is_xyz()) return AbsentTiles::Known::Nothing;
  *strrchr(path, '/') = '\0';
  const int found = set_.root->look_for_folder(path);
  if (is_absent(found)) return AbsentTiles::Known::Absent;
  return found < 0 ? AbsentTiles::Known::Nothing : AbsentTiles::Known::Column;
}

ColdTile::Opened ColdTile::find_in_archive(const TilePlace &place, int64_t now) {
  if (place.retina) return Opened::Absent;
  TileArchive::Section section;
  const TileArchive::Found found = set_.archive->find(place, &section);
  if (found != TileArchive::Found::Tile) return found == TileArchive::Found::Absent ? Opened::Absent : Opened::NotNow;
  const TileArchive::Facts &facts = set_.archive->facts();
  TileArchive::Place bytes;
  if (!set_.archive->place(section, now, &bytes)) return Opened::NotNow;
  file_ = bytes.fd;
  offset_ = bytes.offset;
  lead_ = facts.head;
  size_ = lead_.size() + section.length;
  // JavaScript joins large tiles.
  if (!lead_.empty() && size_ > kMostCopied) return Opened::NotNow;
  modified_ = facts.modified;
  Writer tag(tag_, sizeof tag_);
  tag.add("\"").add(facts.identity).add("-").number(section.offset, 36).add("-").number(section.length, 36).add("\"");
  tag_size_ = tag.text().size();
  return tag.ok() ? Opened::Tile : Opened::NotNow;
}

ColdTile::Opened ColdTile::find_in_bundle(const TilePlace &place, int64_t now) {
  const TileBundles::Found found = set_.bundles->find(place, now, &section_);
  if (found != TileBundles::Found::Tile) return found == TileBundles::Found::Absent ? Opened::Absent : Opened::NotNow;
  const TileBundles::Bundle &bundle = *section_.bundle;
  file_ = bundle.file->fd;
  offset_ = static_cast<int64_t>(section_.offset);
  size_ = section_.length;
  modified_ = bundle.modified;
  Writer tag(tag_, sizeof tag_);
  tag.add("\"").add(bundle.identity).add("-").number(section_.offset, 36).add("-").number(section_.length, 36).add("\"");
  tag_size_ = tag.text().size();
  return tag.ok() ? Opened::Tile : Opened::NotNow;
}

ColdTile::Opened ColdTile::read_database(const TilePlace &place) {
  if (place.retina) return Opened::Absent;
  size_t size = 0;
  const TileDatabase::Found found = set_.database->read(place, kBody, &size);
  if (found != TileDatabase::Found::Tile) return found == TileDatabase::Found::Absent ? Opened::Absent : Opened::NotNow;
  const TileDatabase::Facts &facts = set_.database->facts();
  size_ = size;
  modified_ = facts.modified;
  Writer tag(tag_, sizeof tag_);
  tag.add("\"").add(facts.identity).add("-").number(place.z).add("-").number(place.x).add("-").number(place.y).add("\"");
  tag_size_ = tag.text().size();
  return tag.ok() ? Opened::Tile : Opened::NotNow;
}

// Extents of remote archives are evicted, and occupy the disk as long as they are open.
bool ColdTile::may_be_referred_to() const {
  if (!is_range() || is_evictable() || set_.is_kept()) return false;
  const bool is_worth_it = is_large() || (size_ >= copy_limit && set_.may_read_ahead());
  return is_worth_it && (is_file_shared() || response_table.has_room_for_file());
}

bool ColdTile::read(bool is_kept) {
  const auto size = static_cast<size_t>(size_);
  // TLS copies the body in any case.
  const bool may_stay = !us.tls && !is_kept && size_ >= kMinSendfile && is_range() && set_.may_read_ahead();
  // For a tile that is kept, reading its bytes is an acceptable cost if the kernel gives no information on another user's file.
  is_from_file_ = is_large() || (may_stay && is_known_cached(file_, offset_, size)) ||
                  (is_kept && may_be_referred_to() && residency(file_, offset_, size) == Residency::InMemory);
  const size_t wanted = is_from_file_ ? std::min(set_.signature_bytes(), size) : size;
  lead_.copy(kBody, lead_.size());
  if (!set_.database && read_cached(file_, offset_, kBody + lead_.size(), wanted - lead_.size()) != Cached::Done) return false;
  const std::string_view start(kBody, wanted);
  packed_ = is_gzip(start);
  type_ = set_.is_image && !packed_ ? image_type(start, set_.media_type) : std::string_view(set_.media_type);
  if (!is_from_file_) body_ = {kBody, wanted};
  return write_heads();
}

bool ColdTile::write_heads() {
  if (!(packed_ ? set_.packed : set_.plain)) return false;
  const HeadsWithGaps &gaps = packed_ ? *set_.packed : *set_.plain;
  Writer found(heads, kMaxHead), not_modified(heads + kMaxHead, kMaxHead);
  found.add(gaps.found[0]).add(type_).add(gaps.found[1]).add(etag()).add(gaps.found[2]);
  if (gaps.has_age) found.number(current_for_).add(gaps.found_age);
  found.date(modified_).add(gaps.found[3]).number(size_).add(gaps.found[4]);
  not_modified.add(gaps.not_modified[0]).add(etag()).add(gaps.not_modified[1]);
  if (gaps.has_age) not_modified.number(current_for_).add(gaps.not_modified_age);
  not_modified.date(modified_).add(gaps.not_modified[2]);
  head_ = found.text();
  not_modified_ = not_modified.text();
  return found.ok() && not_modified.ok();
}

std::string_view ColdTile::whole(std::string_view date) const {
  char *const begin = kBody - date.size() - head_.size();
  memcpy(begin, head_.data(), head_.size());
  memcpy(kBody - date.size(), date.data(), date.size());
  return {begin, head_.size() + date.size() + body_.size()};
}
