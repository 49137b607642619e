// The names of the tiles' files in a folder: "{z}/{x}/{y}", or one of the layouts of libs/tilesets/src/layouts/layout.ts.
#pragma once
#include <stdint.h>

#include <string>

#include "header_template.h"
#include "tile_address.h"

// Digits of a number of 32 bits, with zeros in front: at least `count`.
class Digits {
 public:
  Digits(uint32_t value, size_t count, uint32_t base = 10) {
    do {
      text_[--begin_] = "0123456789abcdef"[value % base];
      value /= base;
    } while (value > 0);
    while (kMaxDigits - begin_ < count) text_[--begin_] = '0';
  }
  std::string_view all() const { return {text_ + begin_, kMaxDigits - begin_}; }

 private:
  static constexpr size_t kMaxDigits = 12;
  char text_[kMaxDigits];
  size_t begin_ = kMaxDigits;
};

struct TileNames {
  // The numbers are shared with src/cold-tiles/cold-sets.ts.
  enum class Form : int64_t { Xyz = 0, Tc = 1, Mp = 2, Arcgis = 3, Quadkey = 4, Zyx = 5 };
  Form form = Form::Xyz;
  std::string folder;     // below the root: empty, or with a slash at its end
  std::string extension;  // without the dot
  bool from_south = false;  // rows (TMS)
  // Level of each zoom as a byte, or kNoLevel; empty: each zoom is its own level.
  std::string levels;
  static constexpr unsigned char kNoLevel = 0xff;

  // True if a column is a folder, and tiles may have double resolution.
  bool is_xyz() const { return form == Form::Xyz; }
  // False if the set does not have the zoom.
  bool has(const TilePlace &place) const { return levels.empty() || (place.z < levels.size() && level_of(place.z) != kNoLevel); }
  // Writes the path below the root. The set must have the zoom.
  void write(Writer *name, const TilePlace &place) const;

 private:
  unsigned char level_of(uint32_t zoom) const { return static_cast<unsigned char>(levels[zoom]); }
};
