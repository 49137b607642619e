// One tile out of a set: where its bytes are, what names them, and the bytes themselves as far as the kernel has them in memory.
#pragma once
#include <stdint.h>

#include <string_view>

#include "../transfer/copy_limit.h"
#include "cold_sets.h"

class ColdTile {
 public:
  // Limit: one of as much, or more, that is not to be kept is sent from its file, if the kernel tells that all of it is in memory. Then it is not
  // copied twice: of 16 KB, 2 us less in 24. What is smaller is copied in the time that the further system calls take.
  static constexpr size_t kMinSendfile = 8 * 1024;
  // Limit: a head, and the entity tag in it.
  static constexpr size_t kMaxHead = 2048, kMaxTag = 160;

  explicit ColdTile(const ColdSet &set) : set_(set) {}
  ColdTile(const ColdTile &) = delete;
  ~ColdTile();

  enum class Opened { Tile, Absent, NotNow };
  // `now`: milliseconds of CLOCK_MONOTONIC.
  Opened open(const TilePlace &place, int64_t now);
  // Whether it can be kept by reference to its file, at no cost to others. After `open`.
  bool may_be_referred_to() const;
  // Reads a tile, unless it was read to find it or goes out from its file, and of a large one so much as tells whether it is packed. `is_kept`: its
  // bytes are wanted in any case, if it may not be referred to. false: not now, or no head fits.
  bool read(bool is_kept);

  std::string_view etag() const { return {tag_, tag_size_}; }
  bool is_packed() const { return packed_; }
  // Sent from its file, unless it is in a database, in pieces.
  bool is_large() const { return size_ > kMostCopied && !set_.database; }
  // After `read`: it has no body here.
  bool is_from_file() const { return is_from_file_; }
  // Its file may be evicted, and takes room on the disk for as long as it is open: a large tile of it is not to be kept.
  bool is_evictable() const { return set_.archive && set_.archive->facts().extent_bytes != 0; }
  uint64_t size() const { return size_; }
  int file() const { return file_; }
  // For what outlives this; null: the process can open no more.
  std::shared_ptr<const Descriptor> share_file();
  bool is_file_shared() const { return !is_own_file_ && !is_evictable(); }
  int64_t offset() const { return offset_; }
  int64_t modified() const { return modified_; }  // seconds since 1970
  // After `read`; views are good until another tile is read. Heads are without Date.
  std::string_view head() const { return head_; }
  std::string_view not_modified() const { return not_modified_; }
  std::string_view body() const { return body_; }
  // Head, date and body in one piece; without the body of a tile that is sent from its file.
  std::string_view whole(std::string_view date) const;

 private:
  Opened open_file(const TilePlace &place, int64_t now);
  AbsentTiles::Known look_for_column(char *path) const;
  Opened find_in_archive(const TilePlace &place, int64_t now);
  Opened read_database(const TilePlace &place);
  bool write_heads();

  const ColdSet &set_;
  int file_ = -1;
  std::shared_ptr<const Descriptor> shared_file_;  // after `share_file` the one that closes it
  bool is_own_file_ = false, is_from_file_ = false;
  int64_t offset_ = 0, modified_ = 0;  // seconds since 1970
  uint64_t size_ = 0;
  bool packed_ = false;
  char tag_[kMaxTag];
  size_t tag_size_ = 0;
  std::string_view head_, not_modified_, body_;
};
