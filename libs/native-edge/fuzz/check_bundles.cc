#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <vector>

#include "../native/cold_tiles/tile_archive.h"
#include "../native/cold_tiles/tile_bundles.h"
#include "../native/cold_tiles/tile_names.h"
#include "check.h"

namespace {
constexpr size_t kHead = 64, kIndex = 128 * 128 * 8;
constexpr uint32_t kZoom = 9;  // of the tiles, in two bundles

void put(std::string *text, size_t at, uint64_t value, size_t count) {
  for (size_t i = 0; i < count; i++) (*text)[at + i] = static_cast<char>(value >> 8 * i);
}

using Tiles = std::map<std::pair<uint32_t, uint32_t>, std::string>;

// A bundle as Esri's white paper describes it, with the tiles in any order.
std::string bundle_of(const Tiles &tiles, uint32_t left) {
  std::string text(kHead + kIndex, '\0');
  put(&text, 0, 3, 4);
  put(&text, 12, 5, 4);
  put(&text, 60, kIndex, 4);
  for (const auto &[place, bytes] : tiles) {
    if (place.first / 128 * 128 != left) continue;
    const size_t record = kHead + 8 * (place.second % 128 * 128 + place.first % 128);
    put(&text, record, text.size(), 5);
    put(&text, record + 5, bytes.size(), 3);
    text += bytes;
  }
  return text;
}

// A folder whose names the kernel has cached.
const std::string &folder() {
  // Never destroyed, because it is used at the exit.
  static const std::string &made = *new std::string([] {
    char name[] = "/tmp/fuzz-bundles-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr, "no folder");
    REQUIRE(mkdir((std::string(name) + "/L09").c_str(), 0700) == 0, "no folder of a level");
    atexit([] {
      for (const char *file : {"/L09/R0000C0000.bundle", "/L09/R0000C0080.bundle"}) unlink((folder() + file).c_str());
      rmdir((folder() + "/L09").c_str());
      rmdir(folder().c_str());
    });
    return std::string(name);
  }());
  return made;
}

void write_bundle(uint32_t left, const std::string &text) {
  const std::string path = folder() + (left ? "/L09/R0000C0080.bundle" : "/L09/R0000C0000.bundle");
  unlink(path.c_str());
  FILE *file = fopen(path.c_str(), "w");
  REQUIRE(file && fwrite(text.data(), 1, text.size(), file) == text.size() && fclose(file) == 0, "the bundle was not written");
}

// Returns what a set finds: the bytes of a tile, or how it ends.
std::string found_in(TileBundles &bundles, const TilePlace &place, int64_t now) {
  TileBundles::Section section;
  const TileBundles::Found found = bundles.find(place, now, &section);
  if (found != TileBundles::Found::Tile) return found == TileBundles::Found::Absent ? "absent" : "unknown";
  REQUIRE(section.offset + section.length <= section.bundle->size, "beyond the end");
  std::string bytes(section.length, '\0');
  const ssize_t read = pread(section.bundle->file->fd, bytes.data(), bytes.size(), static_cast<off_t>(section.offset));
  REQUIRE(read >= 0 && static_cast<size_t>(read) <= bytes.size(), "unreadable");
  return "tile " + bytes;
}

TilePlace place_of(uint32_t x, uint32_t y) {
  TilePlace place;
  place.z = kZoom;
  place.x = x;
  place.y = y;
  return place;
}

void check_reading(Choices &choices) {
  Tiles tiles;
  for (size_t i = choices.below(20); i > 0; i--) {
    const auto x = static_cast<uint32_t>(choices.below(256)), y = static_cast<uint32_t>(choices.below(128));
    tiles[{x, y}] = choices.text(choices.below(60));
  }
  std::string texts[] = {bundle_of(tiles, 0), bundle_of(tiles, 128)};
  for (uint32_t i = 0; i < 2; i++) write_bundle(i * 128, texts[i]);
  std::string levels(kZoom + 1, static_cast<char>(TileNames::kNoLevel));
  levels[kZoom] = kZoom;
  int64_t now = 1;
  {
    TileBundles bundles(TileRoot::at(folder()), "", levels);
    for (const auto &[place, bytes] : tiles) {
      const std::string found = found_in(bundles, place_of(place.first, place.second), now);
      REQUIRE(found == (bytes.empty() ? "absent" : "tile " + bytes), found);
    }
    TilePlace other = place_of(3, 200);
    // The kernel may not know yet that the name is absent.
    const std::string found = found_in(bundles, other, now);
    REQUIRE(found == "absent" || found == "unknown", "a missing bundle: " + found);
    other.z = kZoom + 1;
    REQUIRE(found_in(bundles, other, now) == "absent", "a zoom without a level");
  }
  // Damages both. Each look-up must end with some result within the file.
  for (uint32_t i = 0; i < 2; i++) {
    for (size_t n = choices.below(20); n > 0; n--) texts[i][choices.below(choices.once_in(2) ? kHead : 65'536)] = static_cast<char>(choices.next());
    for (const auto &[place, bytes] : tiles) {
      const size_t record = kHead + 8 * (place.second % 128 * 128 + place.first % 128);
      if (place.first / 128 == i && choices.once_in(3)) texts[i][record + choices.below(8)] = static_cast<char>(choices.next());
    }
    if (choices.once_in(4)) texts[i].resize(choices.below(65'536));
    write_bundle(i * 128, texts[i]);
  }
  TileBundles bundles(TileRoot::at(folder()), "", levels);
  for (const auto &[place, bytes] : tiles) found_in(bundles, place_of(place.first, place.second), now);
  // A bundle is cut off while it is open.
  for (uint32_t i = 0; i < 2; i++) {
    const std::string path = folder() + (i ? "/L09/R0000C0080.bundle" : "/L09/R0000C0000.bundle");
    REQUIRE(truncate(path.c_str(), static_cast<off_t>(choices.below(65'536))) == 0, "not cut off");
  }
  for (const auto &[place, bytes] : tiles) found_in(bundles, place_of(place.first, place.second), now);
}

// Compares the names with those that printf writes.
void check_names(Choices &choices) {
  using Form = TileNames::Form;
  TileNames names;
  names.form = static_cast<Form>(choices.below(5));
  names.folder = choices.once_in(2) ? "" : "a/b/";
  names.extension = "png";
  names.from_south = choices.once_in(2);
  TilePlace place;
  place.z = static_cast<uint32_t>(choices.below(kMaxZoom + 1));
  const uint64_t side = uint64_t{1} << place.z;
  place.x = static_cast<uint32_t>((choices.next() << 16 ^ choices.next()) % side);
  place.y = static_cast<uint32_t>((choices.next() << 16 ^ choices.next()) % side);
  const auto row = static_cast<uint32_t>(names.from_south ? side - 1 - place.y : place.y);
  if (choices.once_in(2)) {
    names.levels.assign(kMaxZoom + 1, static_cast<char>(TileNames::kNoLevel));
    names.levels[place.z] = static_cast<char>(choices.below(99));
  }
  const unsigned level = names.levels.empty() ? place.z : static_cast<unsigned char>(names.levels[place.z]);
  REQUIRE(names.has(place), "the zoom");
  char expected[128], written[128];
  const uint32_t x = place.x;
  switch (names.form) {
    case Form::Xyz: snprintf(expected, sizeof expected, "%u/%u/%u", level, x, row); break;
    case Form::Tc:
      snprintf(expected, sizeof expected, "%02u/%03u/%03u/%03u/%03u/%03u/%03u", level, x / 1'000'000, x / 1'000 % 1'000, x % 1'000, row / 1'000'000, row / 1'000 % 1'000, row % 1'000);
      break;
    case Form::Mp: snprintf(expected, sizeof expected, "%02u/%04u/%04u/%04u/%04u", level, x / 10'000, x % 10'000, row / 10'000, row % 10'000); break;
    case Form::Arcgis: snprintf(expected, sizeof expected, "L%02u/R%08x/C%08x", level, row, x); break;
    case Form::Quadkey: {
      size_t at = 0;
      for (uint64_t half = side / 2; half > 0; half /= 2) expected[at++] = static_cast<char>('0' + ((x & half) ? 1 : 0) + ((row & half) ? 2 : 0));
      expected[at] = '\0';
    }
  }
  // Longer numbers than their groups have another form, which the test of both edges compares.
  if ((names.form == Form::Tc && std::max(x, row) >= 1'000'000'000) || (names.form == Form::Mp && std::max(x, row) >= 100'000'000)) return;
  Writer name(written, sizeof written);
  names.write(&name, place);
  REQUIRE(name.ok() && name.text() == names.folder + expected + ".png", std::string(name.text()) + " instead of " + expected);
}

// Directories as JavaScript makes them from a package or a COG, with any offsets and lengths: every result lies within its section.
void check_archive(Choices &choices) {
  const size_t count = 1 + choices.below(30);
  std::vector<double> ids, runs, offsets, nothing;
  std::vector<uint32_t> lengths;
  for (size_t i = 0; i < count; i++) {
    ids.push_back((i ? ids.back() : 0) + static_cast<double>(choices.below(300)));
    runs.push_back(choices.once_in(6) ? static_cast<double>(choices.below(3)) : 0);
    offsets.push_back(static_cast<double>(choices.once_in(4) ? choices.below(uint64_t{1} << 53) : choices.below(4)));
    lengths.push_back(static_cast<uint32_t>(choices.once_in(4) ? choices.next() : choices.below(500)));
  }
  TileArchive::Facts facts;
  facts.max_zoom = static_cast<uint32_t>(choices.below(6));
  facts.leaves = {0, choices.below(10)};
  facts.tiles = {choices.below(10), choices.below(1'000)};
  TileArchive archive(facts, {ids.data(), runs.data(), offsets.data(), lengths.data(), count});
  for (size_t i = choices.below(4); i > 0; i--) archive.put_leaf(choices.below(4), {ids.data(), runs.data(), offsets.data(), lengths.data(), choices.below(count + 1)});
  for (int n = 0; n < 40; n++) {
    TilePlace place;
    place.z = static_cast<uint32_t>(choices.below(7));
    place.x = static_cast<uint32_t>(choices.below(uint32_t{2} << place.z));
    place.y = static_cast<uint32_t>(choices.below(uint32_t{1} << place.z));
    TileArchive::Section section;
    if (archive.find(place, &section) != TileArchive::Found::Tile) continue;
    REQUIRE(section.offset >= facts.tiles.offset && section.offset + section.length <= facts.tiles.offset + facts.tiles.length, "outside of the tiles");
  }
}
}  // namespace

void check_bundles(Choices &choices) {
  check_names(choices);
  check_archive(choices);
  if (choices.once_in(4)) check_reading(choices);
}
