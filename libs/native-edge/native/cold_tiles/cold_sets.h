// The tile sets that are read without JavaScript: one version of a basemap each, under one of its addresses.
//
// JavaScript has found the set under this address just now, and says for how long that may be relied upon; it takes back what has
// changed by synchronous calls. What a set cannot tell (a leaf directory that is not here, a file that is not in memory) is JavaScript's to
// answer, so leaving a set out is always correct.
#pragma once
#include <stdint.h>

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "../hot_tiles/response_table.h"
#include "../hot_tiles/usage.h"
#include "absent_tiles.h"
#include "header_template.h"
#include "tile_address.h"
#include "tile_archive.h"
#include "tile_database.h"
#include "tile_root.h"

struct ColdSet {
  std::string address;     // "code/version" or "code", as it stands between "/tiles/" and the zoom
  uint32_t code = 0;       // the basemap, as JavaScript numbers them
  int64_t good_until = 0;  // milliseconds of CLOCK_MONOTONIC
  std::string extensions;  // those that mean these tiles, with a blank before and behind each
  bool geographic = false;  // two columns at zoom 0
  UsagePointer usage;       // of the version
  // How a WMTS names the tiles of the default version, at the address "code/current"; empty: not.
  struct {
    std::string matrix_sets;  // with a blank before and behind each
    std::string media_type, extension;
  } wmts;
  // The zooms that the set says it has, and the refusal for tiles that are missing at others. Null: the one for all missing tiles.
  uint32_t min_zoom = 0, max_zoom = 0;
  TilePointer beyond;
  bool is_beyond(const TilePlace &place) const { return beyond && (place.z < min_zoom || place.z > max_zoom); }
  // For tiles that are stored as they are, and for those that are stored as gzip. Null: there are none such.
  const HeadsWithGaps *plain = nullptr, *packed = nullptr;

  // In a folder,
  std::shared_ptr<TileRoot> root;
  std::string folder;     // below the root: empty, or with a slash at its end
  std::string extension;  // of the files' names
  bool from_south = false;  // rows (TMS)
  mutable Misses misses;
  // or in an archive (PMTiles),
  std::shared_ptr<TileArchive> archive;
  // or in a database (MBTiles).
  std::shared_ptr<TileDatabase> database;

  // One file that changes only when JavaScript says so.
  bool is_one_file() const { return archive || database; }

  // Whether the first two bytes of a tile tell which it is; else all are of one kind.
  bool has_both() const { return plain && packed; }
  bool has_extension(std::string_view name) const;
};

class NativeTilesets {
 public:
  void put(std::unique_ptr<ColdSet> set);
  // null: there is none at this address.
  ColdSet *at(std::string_view address) const;
  // The tiles of these basemaps are not to be read any more.
  void drop_code(uint32_t code);
  void clear();
  // The set of a tile's address, if it is one, and what follows it there. `now`: milliseconds of CLOCK_MONOTONIC.
  const ColdSet *find(std::string_view target, int64_t now, std::string_view *place) const;
  size_t size() const { return sets_.size(); }

  // An archive by the number that JavaScript has for its content; null: there is none. It stays as long as a set holds it, and until the next one
  // is put.
  std::shared_ptr<TileArchive> archive(int64_t id) const;
  void put_archive(int64_t id, std::shared_ptr<TileArchive> archive);
  // The same for databases.
  std::shared_ptr<TileDatabase> database(int64_t id) const;
  void put_database(int64_t id, std::shared_ptr<TileDatabase> database);

  // Heads are few, and stay. Answers their number; -1: they have other gaps.
  int put_heads(std::string_view found, std::string_view not_modified);
  const HeadsWithGaps *heads(int64_t number) const;

 private:
  void drop_unused();
  std::unordered_map<std::string_view, std::unique_ptr<ColdSet>> sets_;  // the keys are views into the entries
  std::unordered_map<int64_t, std::shared_ptr<TileArchive>> archives_;
  std::unordered_map<int64_t, std::shared_ptr<TileDatabase>> databases_;
  std::deque<HeadsWithGaps> heads_;
};

extern NativeTilesets cold_sets;
