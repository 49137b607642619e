// A decoded directory of a PMTiles archive, in some four bytes per entry: all directories of an archive of ten million tiles fit into
// memory.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <string>
#include <vector>

// Columns in the order of the tile numbers, like those of libs/tilesets/src/pmtiles/directory.ts.
struct DirectoryColumns {
  const double *ids, *runs, *offsets;
  const uint32_t *lengths;
  size_t count;
};

class TileDirectory {
 public:
  struct Entry {
    uint64_t id, offset;
    uint64_t run;  // 0: a leaf directory
    uint32_t length;
  };

  explicit TileDirectory(const DirectoryColumns &columns);
  // Finds the last entry at or before the number, if it is a leaf or a long enough run. False if there is no such entry.
  bool find(uint64_t id, Entry *entry) const;
  size_t bytes() const { return packed_.capacity() + anchors_.capacity() * sizeof(Anchor) + sizeof *this; }

 private:
  // The first entry of a group, and the place where the others of it begin, stored as differences.
  struct Anchor {
    Entry first;
    size_t others;
  };
  // Maximum number of entries that are read in sequence.
  static constexpr size_t kStretch = 64;

  std::vector<Anchor> anchors_;
  std::string packed_;
};
