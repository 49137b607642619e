// A PMTiles archive that JavaScript has opened and checked, and those of its directories that JavaScript has decoded; or a file whose tiles JavaScript
// has numbered in the same way (packages of Esri, COGs).
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
    std::shared_ptr<const Descriptor> file;  // null if the archive is remote
    // Bytes of an extent, in which parts of a remote archive are stored, and of its blocks; 0 for a file.
    uint64_t extent_bytes = 0, block_bytes = 0;
    std::string identity;  // of the file's content
    int64_t modified = 0;  // seconds since 1970
    uint32_t min_zoom = 0, max_zoom = 0;
    Section leaves, tiles;  // their place in the file
    std::string head;       // bytes to put before each tile: tables that the JPEG tiles of a COG share
  };

  TileArchive(const Facts &facts, const DirectoryColumns &root);
  TileArchive(const TileArchive &) = delete;
  ~TileArchive();

  const Facts &facts() const { return facts_; }
  // Takes a leaf directory; `offset` is its position in the file. Limit: all leaves of a process take at most kMaxLeafBytes; the least recently used
  // are evicted.
  void put_leaf(uint64_t offset, const DirectoryColumns &columns);

  enum class Found { Tile, Absent, Unknown };
  // Finds the place of a tile's bytes in the file. Unknown: a directory is missing here, or the archive is invalid.
  Found find(const TilePlace &place, Section *section);

  // Takes an extent and which of its blocks are here, a byte of 1 each. The descriptor is duplicated. Replaces earlier information, because the
  // extent may have been evicted and created again. Limit: kMaxExtents of all archives; the least recently used are evicted.
  void put_extent(uint64_t index, int fd, std::string_view present);
  struct Place {
    int fd = -1;
    int64_t offset = 0;
  };
  // Finds the place from which to read a section. False if a part of it is missing here, or it spans two extents. Records the use of its extent for
  // eviction. `now` is in milliseconds of CLOCK_MONOTONIC.
  bool place(const Section &section, int64_t now, Place *place);
  // Releases the extents that have no name any more, so that the disk space is freed.
  static void forget_evicted();

  // Number and bytes of the sections that were found in extents since the start.
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

  // All archives, the most recently used first.
  // Never destroyed, because archives that are still open when the process exits access them.
  static Leaves &all_leaves;
  static size_t leaf_bytes;
  static Extents &all_extents;

  Facts facts_;
  const TileDirectory root_;
  std::unordered_map<uint64_t, Leaves::iterator> leaves_;
  std::unordered_map<uint64_t, Extents::iterator> extents_;
};

// Number of a tile along the Hilbert curves of the zooms, one after the other (PMTiles 3, 4.1). Zooms up to 26.
uint64_t pmtiles_id(const TilePlace &place);
