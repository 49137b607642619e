// A decoded directory of a PMTiles archive, in some four bytes an entry: of an archive of ten million tiles all directories fit into memory.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <string>
#include <vector>

// In the order of its tile numbers. Columns as libs/tilesets/src/pmtiles/directory.ts has them.
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
  // The last entry at or before the number, if it is a leaf or a long enough run. false: none.
  bool find(uint64_t id, Entry *entry) const;
  size_t bytes() const { return packed_.capacity() + anchors_.capacity() * sizeof(Anchor) + sizeof *this; }

 private:
  // The first entry of a stretch, and where the others of it begin, as differences.
  struct Anchor {
    Entry first;
    size_t others;
  };
  // So many entries are read one after the other at most.
  static constexpr size_t kStretch = 64;

  std::vector<Anchor> anchors_;
  std::string packed_;
};
