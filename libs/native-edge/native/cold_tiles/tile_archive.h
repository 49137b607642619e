// A PMTiles archive that JavaScript has opened and checked, and as much of its directories as JavaScript has decoded.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../hot_tiles/descriptor.h"
#include "tile_address.h"
#include "tile_directory.h"

class TileArchive {
 public:
  struct Section {
    uint64_t offset = 0, length = 0;
  };
  struct Facts {
    std::shared_ptr<const Descriptor> file;  // null where the archive is elsewhere
    // Of the extents that hold what is here of it, and of their blocks; 0: it is a file.
    uint64_t extent_bytes = 0, block_bytes = 0;
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

  // Takes an extent and which of its blocks are here, a byte of 1 each. The descriptor is duplicated. What is known of it is replaced: it may have been
  // evicted and made anew. Limit: kMaxExtents of all archives, those used longest ago make room.
  void put_extent(uint64_t index, int fd, std::string_view present);
  struct Place {
    int fd = -1;
    int64_t offset = 0;
  };
  // Where to read a section. false: not all of it is here, or not in one piece. Notes the use of its extent for who evicts.
  // `now`: milliseconds of CLOCK_MONOTONIC.
  bool place(const Section &section, int64_t now, Place *place);
  // Lets go of the extents that have no name any more, so that their room on the disk is free.
  static void forget_evicted();

  // Sections that were found in extents since the start, and their bytes.
  static uint64_t placed, placed_bytes;

  static constexpr size_t kMaxLeafBytes = 64 * 1024 * 1024;
  static constexpr size_t kMaxExtents = 512;

 private:
  struct Leaf {
    TileArchive *archive;
    uint64_t offset;
    TileDirectory directory;
    size_t bytes() const { return directory.bytes() + 128; }
  };
  using Leaves = std::list<Leaf>;

  struct Extent {
    TileArchive *archive;
    uint64_t index;
    int fd;
    std::string present;
    int64_t used_at;
  };
  using Extents = std::list<Extent>;

  const TileDirectory *leaf_at(uint64_t offset);
  static void drop_leaf(Leaves::iterator leaf);
  static void drop_extent(Extents::iterator extent);

  // Of all archives, the one used last in front.
  // Never destroyed: archives that are still open when the process exits leave them.
  static Leaves &all_leaves;
  static size_t leaf_bytes;
  static Extents &all_extents;

  Facts facts_;
  const TileDirectory root_;
  std::unordered_map<uint64_t, Leaves::iterator> leaves_;
  std::unordered_map<uint64_t, Extents::iterator> extents_;
};

// The number of a tile along the Hilbert curves of the zooms, one after the other (PMTiles 3, 4.1). Zooms up to 26.
uint64_t pmtiles_id(const TilePlace &place);
