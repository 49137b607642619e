// One tile of a set: the place of its bytes, its entity tag, and the bytes themselves if the kernel has them in memory.
#pragma once
#include <stdint.h>
#include <sys/stat.h>

#include <string_view>

#include "../transfer/copy_limit.h"
#include "cold_sets.h"

class ColdTile {
 public:
  // Limit: minimum bytes of a tile that is sent from its file if it is not kept and the kernel says that all of it is in memory. That avoids a
  // second copy: for 16 KB it saves 2 us of 24. Copying a smaller tile takes no longer than the additional system calls.
  static constexpr size_t kMinSendfile = 8 * 1024;
  // Limits: bytes of a head, and of the entity tag in it.
  static constexpr size_t kMaxHead = 2048, kMaxTag = 160;

  explicit ColdTile(const ColdSet &set) : set_(set) {}
  ColdTile(const ColdTile &) = delete;
  ~ColdTile();

  enum class Opened { Tile, Absent, NotNow };
  // `now` is in milliseconds of CLOCK_MONOTONIC.
  Opened open(const TilePlace &place, int64_t now);
  // True if the tile can be kept by reference to its file, at no cost to others. Valid after `open`.
  bool may_be_referred_to() const;
  // Reads a tile, unless `open` has read it or it is sent from its file. It reads of a large tile only the bytes that show its kind. If
  // `is_kept`, the bytes are needed unless the tile may be kept by reference. False if the bytes are not in memory, or no head fits.
  bool read(bool is_kept);

  std::string_view etag() const { return {tag_, tag_size_}; }
  bool is_packed() const { return packed_; }
  // True if the tile is sent from its file. Tiles in a database are in pieces, and never sent from it.
  bool is_large() const { return size_ > kMostCopied && !set_.database; }
  // True if the body is not in memory here. Valid after `read`.
  bool is_from_file() const { return is_from_file_; }
  // True if its file may be evicted. The file occupies the disk as long as it is open, so a large tile in it must not be kept.
  bool is_evictable() const { return set_.archive && set_.archive->facts().extent_bytes != 0; }
  uint64_t size() const { return size_; }
  int file() const { return file_; }
  // Shares the descriptor beyond the life of this object; null if the process may open no more files.
  std::shared_ptr<const Descriptor> share_file();
  bool is_file_shared() const { return !is_own_file_ && !is_evictable(); }
  int64_t offset() const { return offset_; }
  int64_t modified() const { return modified_; }  // seconds since 1970
  // Valid after `read`, until another tile is read. Heads are without Date.
  std::string_view head() const { return head_; }
  std::string_view not_modified() const { return not_modified_; }
  std::string_view body() const { return body_; }
  // Head, date and body in one piece, without the body of a tile that is sent from its file.
  std::string_view whole(std::string_view date) const;

 private:
  // True if the tile is an unchanged part of a file.
  bool is_range() const { return !set_.database && lead_.empty(); }
  Opened open_file(const TilePlace &place, int64_t now);
  Opened take_kept(const struct stat &stat);
  AbsentTiles::Known look_for_column(char *path) const;
  Opened find_in_archive(const TilePlace &place, int64_t now);
  Opened find_in_bundle(const TilePlace &place, int64_t now);
  Opened read_database(const TilePlace &place);
  bool write_heads();

  const ColdSet &set_;
  int file_ = -1;
  std::shared_ptr<const Descriptor> shared_file_;  // after `share_file` it owns and closes the descriptor
  bool is_own_file_ = false, is_from_file_ = false;
  int64_t offset_ = 0, modified_ = 0;  // seconds since 1970
  uint64_t size_ = 0;
  uint64_t current_for_ = 0;  // seconds
  std::string_view lead_;  // bytes of the tile before those of the file
  TileBundles::Section section_;  // of a tile in a bundle, which stays open
  bool packed_ = false;
  std::string_view type_;
  char tag_[kMaxTag];
  size_t tag_size_ = 0;
  std::string_view head_, not_modified_, body_;
};
