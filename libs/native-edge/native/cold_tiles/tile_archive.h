// A PMTiles archive that JavaScript has opened and checked, and as much of its directories as JavaScript has decoded.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "tile_address.h"

// A decoded directory in the order of its tile numbers. Columns as libs/tilesets/src/pmtiles/directory.ts has them.
struct DirectoryColumns {
  const double *ids, *runs, *offsets;
  const uint32_t *lengths;
  size_t count;
};

class TileArchive {
 public:
  struct Section {
    uint64_t offset = 0, length = 0;
  };
  struct Facts {
    int fd = -1;           // duplicated
    std::string identity;  // of the file's content
    int64_t modified = 0;  // seconds since 1970
    uint32_t min_zoom = 0, max_zoom = 0;
    Section leaves, tiles;  // of the file
  };

  TileArchive(const Facts &facts, const DirectoryColumns &root);
  TileArchive(const TileArchive &) = delete;
  ~TileArchive();

  const Facts &facts() const { return facts_; }
  // Takes a leaf directory; `offset` in the file. Limit: all leaves of a process take at most kMaxLeafBytes, those used longest ago make room.
  void put_leaf(uint64_t offset, const DirectoryColumns &columns);

  enum class Found { Tile, Absent, Unknown };
  // Where in the file a tile's bytes are. Unknown: a directory is not here, or the archive is broken.
  Found find(const TilePlace &place, Section *section);

  static constexpr size_t kMaxLeafBytes = 32 * 1024 * 1024;

 private:
  struct Entry {
    uint64_t id, offset;
    uint64_t run;  // 0: a leaf directory
    uint32_t length;
  };
  using Directory = std::vector<Entry>;
  struct Leaf {
    TileArchive *archive;
    uint64_t offset;
    Directory entries;
    size_t bytes() const { return entries.size() * sizeof(Entry) + 128; }
  };
  using Leaves = std::list<Leaf>;

  static Directory decoded(const DirectoryColumns &columns);
  static const Entry *entry_of(const Directory &directory, uint64_t id);
  const Directory *leaf_at(uint64_t offset);
  static void drop_leaf(Leaves::iterator leaf);

  // Of all archives, the one used last in front.
  static Leaves all_leaves;
  static size_t leaf_bytes;

  Facts facts_;
  const Directory root_;
  std::unordered_map<uint64_t, Leaves::iterator> leaves_;
};

// The number of a tile along the Hilbert curves of the zooms, one after the other (PMTiles 3, 4.1). Zooms up to 26.
uint64_t pmtiles_id(const TilePlace &place);
