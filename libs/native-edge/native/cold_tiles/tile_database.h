// An MBTiles archive, an SQLite database (sqlite.org/fileformat2.html), that SQLite has opened in another process and JavaScript has described: which
// trees of pages lead to a tile. They are followed here page by page, as far as the kernel has the pages in memory.
//
// Nothing is locked. The description was made while SQLite held its lock and no journal was there, so the file then was as a writer had completed it; and its
// times, which every later write changes, are looked at after a tile was read. A file that was written to is SQLite's to read from then on. What the walk
// does not expect (other types of values, pages that contradict each other) is left to SQLite as well, which knows what to say of it.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <string>
#include <vector>

#include "tile_address.h"

class TileDatabase {
 public:
  // What changes with every write, and where the file is unlinked or replaced.
  struct Stamp {
    int64_t inode, size, modified_ns, changed_ns;
    bool operator==(const Stamp &other) const;
  };
  // What an index is asked for. Row: counted from the south. Found: what the step before has found.
  enum class Key : int64_t { Zoom = 0, Column = 1, Row = 2, Found = 3 };
  // One row by an index, or by its number.
  struct Step {
    int64_t index = 0;      // root page; 0: `keys` is the number of the row
    std::vector<Key> keys;  // one for each column of the index, in its order
    int64_t table = 0;      // root page; 0: the index holds the whole row (WITHOUT ROWID)
    int64_t column = 0;     // what is wanted of the row, by its place in the record
  };
  struct Facts {
    std::string identity;  // of the file's content
    int64_t modified = 0;  // seconds since 1970
    int64_t page_bytes = 0;
    Stamp stamp;
    std::vector<Step> steps;  // of the last one the tile's bytes are wanted
  };

  // Limit: larger tiles are left to SQLite. As DATABASE_TILE_BYTES of services/edge/src/native/published-sets.ts.
  static constexpr size_t kMaxTile = 512 * 1024;
  // Limit: databases of a process that are open here; the one that was put longest ago makes room.
  static constexpr size_t kMaxOpen = 256;

  // Takes the descriptor.
  TileDatabase(int fd, Facts facts);
  TileDatabase(const TileDatabase &) = delete;
  ~TileDatabase();

  const Facts &facts() const { return facts_; }
  // It was put again.
  void touch();
  // false: the file has been written to, or had to make room.
  bool is_current();

  enum class Found { Tile, Absent, Unknown };
  // Reads a tile into `target`, which has room for kMaxTile bytes. Unknown: not all that leads to it is in memory, or SQLite has to be asked.
  Found read(const TilePlace &place, char *target, size_t *size);

 private:
  void let_go();

  static std::vector<TileDatabase *> open_ones;  // the one that was put last at the end

  int fd_;
  const Facts facts_;
};
