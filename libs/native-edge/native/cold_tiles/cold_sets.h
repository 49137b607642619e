// The tile sets that are read without JavaScript: one version of a basemap each, under one of its addresses.
//
// JavaScript has just found the set under this address, and sets the time until which it may be used. It drops changed sets by synchronous calls.
// JavaScript also answers requests for which the set has not enough information (a leaf directory that is not here, a file that is not in
// memory), so leaving a set out is always correct.
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
#include "tile_bundles.h"
#include "tile_database.h"
#include "tile_kind.h"
#include "tile_names.h"
#include "tile_root.h"

struct ColdSet {
  std::string address;     // as between "/tiles/" and the zoom: "code/version" or "code"; of a vector "vectors/code/tiles"
  uint32_t code = 0;       // number of the basemap or vector in JavaScript; see kind_of
  int64_t good_until = 0;  // milliseconds of CLOCK_MONOTONIC
  std::string extensions;  // extensions of these tiles, each between two blanks
  bool geographic = false;  // zoom 0 has two columns
  bool is_cut = false;      // JavaScript cuts its tiles for a token with an area
  UsagePointer usage;       // of the version
  Grid grid() const { return is_cut ? Grid::Other : geographic ? Grid::Geographic : Grid::Mercator; }
  // Names of the tiles of the default version in a WMTS, at the address "code/current"; empty if the WMTS does not have the set.
  struct {
    std::string matrix_sets;  // each between two blanks
    std::string media_type, extension;
  } wmts;
  // Zooms that the set claims to have, and the refusal for missing tiles at other zooms. If the refusal is null, that for all missing tiles is
  // used.
  uint32_t min_zoom = 0, max_zoom = 0;
  TilePointer beyond;
  bool is_beyond(const TilePlace &place) const { return beyond && (place.z < min_zoom || place.z > max_zoom); }
  // Heads for uncompressed and for gzip tiles. The first bytes of each tile decide which it has.
  const HeadsWithGaps *plain = nullptr, *packed = nullptr;
  std::string media_type;  // of vector tiles, and of tiles whose bytes tell none
  bool is_image = false;

  // The set is in a folder,
  std::shared_ptr<TileRoot> root;
  TileNames names;
  mutable Misses misses;
  // Time in ms for which a file of the folder is current after its last change (ctime); 0: as long as the set is. JavaScript makes the others.
  int64_t kept_ms = 0;
  // Milliseconds since 1970: files that were last changed before this are old.
  int64_t old_before = 0;
  bool is_kept() const { return kept_ms > 0; }
  // in an archive (PMTiles),
  std::shared_ptr<TileArchive> archive;
  // in the bundles of a folder (Esri),
  std::shared_ptr<TileBundles> bundles;
  // or in a database (MBTiles, GeoPackage).
  std::shared_ptr<TileDatabase> database;

  // True if a tile is a part of a file, which changes only when JavaScript says so.
  bool is_archive() const { return archive || database || bundles; }
  bool is_of_vector() const { return kind_of(code) != 0; }
  bool may_have_retina() const { return !is_archive() && names.is_xyz(); }

  // Number of first bytes of a tile that decide its heads.
  size_t signature_bytes() const { return is_image ? kImageSignature : kGzipSignature; }
  // True if it is worth reading these bytes before the others: for small vector tiles in files it is not.
  bool may_read_ahead() const { return is_image || archive; }
  bool has_extension(std::string_view name) const;
};

class NativeTilesets {
 public:
  void put(std::unique_ptr<ColdSet> set);
  // Returns null if no set has this address.
  ColdSet *at(std::string_view address) const;
  // Drops the sets of a basemap.
  void drop_code(uint32_t code);
  void clear();
  // Returns the set of a tile's address, or null, and the part of the address that follows it. `now` is in milliseconds of CLOCK_MONOTONIC.
  const ColdSet *find(std::string_view target, int64_t now, std::string_view *place) const;
  size_t size() const { return sets_.size(); }

  // Returns the archive with JavaScript's number for its content, or null. An archive stays as long as a set holds it, and until the next archive
  // is put.
  std::shared_ptr<TileArchive> archive(int64_t id) const;
  void put_archive(int64_t id, std::shared_ptr<TileArchive> archive);
  // The same for bundles and databases.
  std::shared_ptr<TileBundles> bundles(int64_t id) const;
  void put_bundles(int64_t id, std::shared_ptr<TileBundles> bundles);
  std::shared_ptr<TileDatabase> database(int64_t id) const;
  void put_database(int64_t id, std::shared_ptr<TileDatabase> database);

  // Heads are few, and are kept for ever. Returns their number, or -1 if they have other gaps.
  int put_heads(std::string_view found, std::string_view not_modified);
  const HeadsWithGaps *heads(int64_t number) const;

 private:
  void drop_unused();
  std::unordered_map<std::string_view, std::unique_ptr<ColdSet>> sets_;  // the keys are views into the entries
  std::unordered_map<int64_t, std::shared_ptr<TileArchive>> archives_;
  std::unordered_map<int64_t, std::shared_ptr<TileBundles>> bundles_;
  std::unordered_map<int64_t, std::shared_ptr<TileDatabase>> databases_;
  std::deque<HeadsWithGaps> heads_;
};

extern NativeTilesets cold_sets;
