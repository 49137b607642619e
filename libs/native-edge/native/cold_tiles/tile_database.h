// An MBTiles archive or a table of tiles in a GeoPackage: an SQLite database (sqlite.org/fileformat2.html), that SQLite has opened in another process and JavaScript has described: the
// trees of pages that lead to a tile. They are followed here page by page, if the kernel has the pages in memory.
//
// No lock is taken. The description was made while SQLite held its lock and no journal existed, so the file was in the state that a writer had
// completed. Every later write changes the file's times, which are checked after a tile was read. After a write, only SQLite reads the file. Anything
// that the walk does not expect (other types of values, contradictory pages) is also left to SQLite, which reports the error.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "tile_address.h"

class TileDatabase {
 public:
  // State of the file that changes with every write, and if the file is unlinked or replaced.
  struct Stamp {
    int64_t inode, size, modified_ns, changed_ns;
    bool operator==(const Stamp &other) const { return changed_ns == other.changed_ns && is_content_of(other); }
    // True if the content is the same; the inode may have another name, owner or mode.
    bool is_content_of(const Stamp &other) const { return inode == other.inode && size == other.size && modified_ns == other.modified_ns; }
    // False if the file does not exist.
    static bool of(int fd, Stamp *stamp);
  };
  // Values of the keys of an index. Row is counted from the south unless the zooms are described. Found is the result of the previous step.
  enum class Key : int64_t { Zoom = 0, Column = 1, Row = 2, Found = 3 };
  // Look-up of one row by an index, or by its number.
  struct Step {
    int64_t index = 0;      // root page; 0: `keys` is the number of the row
    std::vector<Key> keys;  // one for each column of the index, in its order
    int64_t table = 0;      // root page; 0: the index holds the whole row (WITHOUT ROWID)
    int64_t column = 0;     // position in the record of the column that is read
  };
  // A zoom of the grid as a GeoPackage stores it: its level (below 0: it has none), and the place of its first tile in the grid, from the north.
  struct Zoom {
    int64_t level = -1, column = 0, row = 0;
  };
  struct Facts {
    std::string identity;  // of the file's content
    int64_t modified = 0;  // seconds since 1970
    int64_t page_bytes = 0;
    Stamp stamp = {};
    std::vector<Zoom> zooms;  // by zoom of the grid; empty: levels are zooms (MBTiles)
    std::vector<Step> steps;  // the last one returns the tile's bytes
  };

  // Limit: bytes of a tile; larger ones are left to SQLite. Equal to DATABASE_TILE_BYTES of src/cold-tiles/cold-sets.ts.
  static constexpr size_t kMaxTile = 512 * 1024;
  // Limit: bytes of the cached pages of indexes and inner pages of tables, of all databases of a process; the least recently used are evicted.
  static constexpr size_t kMaxPageBytes = 16 * 1024 * 1024;
  // Limit: open databases of a process; the one that was put longest ago is closed.
  static constexpr size_t kMaxOpen = 256;

  // Takes ownership of the descriptor.
  TileDatabase(int fd, Facts facts);
  TileDatabase(const TileDatabase &) = delete;
  ~TileDatabase();

  const Facts &facts() const { return facts_; }
  // Must be called when the database is put again.
  void touch();
  // False if the file was written to, or was closed to make room.
  bool is_current();

  enum class Found { Tile, Absent, Unknown };
  // Reads a tile into `target`, which has room for kMaxTile bytes. Unknown: a page on the way to it is not in memory, or SQLite has to be asked.
  Found read(const TilePlace &place, char *target, size_t *size);

  // A cached page, which stays valid while it is held; null if the page is not cached. Its content may be used if the file is found unchanged after
  // the look-up.
  using Kept = std::shared_ptr<char[]>;
  Kept kept_page(uint32_t number);
  void keep_page(uint32_t number, const char *bytes);
  int file() const { return fd_; }
  size_t page_bytes() const { return static_cast<size_t>(facts_.page_bytes); }

 private:
  struct Page {
    TileDatabase *database;
    uint32_t number;
    Kept bytes;
  };
  using Pages = std::list<Page>;

  static void drop_page(Pages::iterator page);
  void let_go();

  // Never destroyed, because databases that are still open when the process exits access them.
  static std::vector<TileDatabase *> &open_ones;  // most recently put last
  // All databases, the most recently used first.
  static Pages &all_pages;
  static size_t all_page_bytes;
  std::unordered_map<uint32_t, Pages::iterator> pages_;

  int fd_;
  const Facts facts_;
};
