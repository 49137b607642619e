// An MBTiles archive, an SQLite database (sqlite.org/fileformat2.html), that SQLite has opened in another process and JavaScript has described: which
// trees of pages lead to a tile. They are followed here page by page, as far as the kernel has the pages in memory.
//
// Nothing is locked. The description was made while SQLite held its lock and no journal was there, so the file then was as a writer had completed it; and its
// times, which every later write changes, are looked at after a tile was read. A file that was written to is SQLite's to read from then on. What the walk
// does not expect (other types of values, pages that contradict each other) is left to SQLite as well, which knows what to say of it.
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
  // What changes with every write, and where the file is unlinked or replaced.
  struct Stamp {
    int64_t inode, size, modified_ns, changed_ns;
    bool operator==(const Stamp &other) const { return changed_ns == other.changed_ns && is_content_of(other); }
    // The same content: the inode may have got another name, owner or mode.
    bool is_content_of(const Stamp &other) const { return inode == other.inode && size == other.size && modified_ns == other.modified_ns; }
    // false: there is no such file.
    static bool of(int fd, Stamp *stamp);
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
    Stamp stamp = {};
    std::vector<Step> steps;  // of the last one the tile's bytes are wanted
  };

  // Limit: larger tiles are left to SQLite. As DATABASE_TILE_BYTES of services/edge/src/native/native-tileset-registry.ts.
  static constexpr size_t kMaxTile = 512 * 1024;
  // Limit: pages of indexes and inner pages of tables that all databases of a process keep; those used longest ago make room.
  static constexpr size_t kMaxPageBytes = 16 * 1024 * 1024;
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

  // A page that is kept, for as long as it is held; null: it is not. It is as good as the look-up after which the file is found unchanged.
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

  // Never destroyed: databases that are still open when the process exits leave them.
  static std::vector<TileDatabase *> &open_ones;  // the one that was put last at the end
  // Of all databases, the one used last in front.
  static Pages &all_pages;
  static size_t all_page_bytes;
  std::unordered_map<uint32_t, Pages::iterator> pages_;

  int fd_;
  const Facts facts_;
};
