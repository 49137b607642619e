// The bundles of an Esri compact cache (version 2) in a folder: files of 128 by 128 tiles, each with an index of 8 bytes for a tile. The index is
// read for each tile, because a bundle may be written to.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "../hot_tiles/descriptor.h"
#include "tile_address.h"
#include "tile_root.h"

class TileBundles {
 public:
  // An open bundle, in the state of its opening, like `OpenFile` of libs/tilesets/src/ranges/source.ts.
  struct Bundle {
    std::shared_ptr<const Descriptor> file;
    std::string identity;
    int64_t modified = 0;  // seconds since 1970
    uint64_t size = 0;
  };
  struct Section {
    std::shared_ptr<const Bundle> bundle;
    uint64_t offset = 0, length = 0;
  };
  enum class Found { Tile, Absent, Unknown };

  // `folder`: below the root, empty or with a slash at its end. `levels`: as in TileNames.
  TileBundles(std::shared_ptr<TileRoot> root, std::string folder, std::string levels)
      : root_(std::move(root)), folder_(std::move(folder)), levels_(std::move(levels)) {}
  TileBundles(const TileBundles &) = delete;
  ~TileBundles();

  // Finds the place of a tile's bytes. Unknown: something on the way to it is not in memory, or the bundle is invalid. `now` is in milliseconds of
  // CLOCK_MONOTONIC.
  Found find(const TilePlace &place, int64_t now, Section *section);

  // Limit: open bundles of a process; the least recently used are closed.
  static constexpr size_t kMaxOpen = 512;

 private:
  struct Open {
    TileBundles *owner;
    uint64_t number;  // of the bundle
    std::shared_ptr<const Bundle> bundle;
  };
  using Opens = std::list<Open>;

  Found bundle_at(uint32_t level, const TilePlace &place, int64_t now, std::shared_ptr<const Bundle> *bundle);
  Found open(const char *path, int64_t now, std::shared_ptr<const Bundle> *bundle) const;
  static void drop(Opens::iterator open);

  // All open bundles, the most recently used first. Never destroyed, because sets that still exist when the process exits access them.
  static Opens &all_open;

  const std::shared_ptr<TileRoot> root_;
  const std::string folder_, levels_;
  std::unordered_map<uint64_t, Opens::iterator> open_;
};
