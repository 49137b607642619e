// The JavaScript interface of the sets of cold tiles, called only by src/cold-tiles/cold-sets.ts.
#include <unistd.h>

#include <algorithm>

#include "../addon.h"
#include "../call.h"
#include "../hot_tiles/tile_response.h"
#include "cold_sets.h"

namespace {
// Returns the columns of a directory from the bytes of their arrays, beginning at argument `first`: numbers, runs and offsets as doubles, lengths as
// 32-bit numbers.
DirectoryColumns columns_of(const Call &call, int first) {
  const auto doubles = [&call](int i) { return reinterpret_cast<const double *>(call.bytes(i).data()); };
  const std::string_view lengths = call.bytes(first + 3);
  return {doubles(first), doubles(first + 1), doubles(first + 2), reinterpret_cast<const uint32_t *>(lengths.data()), lengths.size() / sizeof(uint32_t)};
}

// Arguments: address, basemap number, good until, extensions, bits (1: it is geographic, 2: JavaScript cuts its tiles), numbers of the heads for
// plain and for packed tiles, name of the version's usage, media type of its tiles, whether they are images.
std::unique_ptr<ColdSet> set_of(const Call &call) {
  auto set = std::make_unique<ColdSet>();
  set->address = call.text(0);
  set->code = static_cast<uint32_t>(call.integer(1));
  set->good_until = call.integer(2);
  set->extensions = call.text(3);
  set->geographic = call.integer(4) & 1;
  set->is_cut = call.integer(4) & 2;
  set->plain = cold_sets.heads(call.integer(5));
  set->packed = cold_sets.heads(call.integer(6));
  set->usage = usage_of(call.text(7));
  set->media_type = call.text(8);
  set->is_image = call.truth(9);
  return set;
}

// Further arguments: root, folder, extension of the files, whether rows are counted from the south, form of the names, level of
// each zoom (a byte), kept_ms, old_before.
napi_value put_folder_set(const Call &call) {
  std::unique_ptr<ColdSet> set = set_of(call);
  set->root = TileRoot::at(call.text(10));
  set->names.folder = call.text(11);
  set->names.extension = call.text(12);
  set->names.from_south = call.truth(13);
  const int64_t form = call.integer(14);
  if (form < 0 || form > static_cast<int64_t>(TileNames::Form::Zyx)) return nullptr;
  set->names.form = static_cast<TileNames::Form>(form);
  set->names.levels = call.bytes(15);
  set->kept_ms = call.integer(16);
  set->old_before = call.integer(17);
  cold_sets.put(std::move(set));
  return nullptr;
}

// Further argument: number of the archive. False if the archive is not known here.
bool put_archive_set(const Call &call) {
  std::unique_ptr<ColdSet> set = set_of(call);
  set->archive = cold_sets.archive(call.integer(10));
  if (!set->archive) return false;
  cold_sets.put(std::move(set));
  return true;
}

// Further arguments: number of the content, root, folder below it, level of each zoom (a byte).
napi_value put_bundle_set(const Call &call) {
  std::unique_ptr<ColdSet> set = set_of(call);
  const int64_t id = call.integer(10);
  if (!cold_sets.bundles(id)) {
    cold_sets.put_bundles(id, std::make_shared<TileBundles>(TileRoot::at(call.text(11)), call.text(12), std::string(call.bytes(13))));
  }
  set->bundles = cold_sets.bundles(id);
  cold_sets.put(std::move(set));
  return nullptr;
}

// Words from JavaScript, read in order. `ok` is false after a read beyond the end.
class Words {
 public:
  explicit Words(std::pair<int64_t *, size_t> words) : words_(words) {}
  int64_t next() { return at_ < words_.second ? words_.first[at_++] : (ok_ = false, 0); }
  bool is_at_end() const { return at_ >= words_.second; }
  bool ok() const { return ok_; }

 private:
  const std::pair<int64_t *, size_t> words_;
  size_t at_ = 0;
  bool ok_ = true;
};

// Reads each step: index, number of its keys, keys, table, column. False if the words have another form.
bool read_steps(Words &words, std::vector<TileDatabase::Step> *steps) {
  constexpr int64_t max_keys = 4;
  while (!words.is_at_end()) {
    TileDatabase::Step step;
    step.index = words.next();
    const int64_t keys = words.next();
    if (keys < 1 || keys > max_keys) return false;
    for (int64_t i = 0; i < keys; i++) {
      const int64_t key = words.next();
      if (key < 0 || key > static_cast<int64_t>(TileDatabase::Key::Found)) return false;
      step.keys.push_back(static_cast<TileDatabase::Key>(key));
    }
    step.table = words.next();
    step.column = words.next();
    steps->push_back(step);
  }
  return words.ok();
}

// Reads the number of described zooms, and each: zoom, level, column and row of its first tile. False if the words have another form.
bool read_zooms(Words &words, std::vector<TileDatabase::Zoom> *zooms) {
  const int64_t count = words.next();
  for (int64_t i = 0; i < count && words.ok(); i++) {
    const int64_t zoom = words.next();
    if (zoom < 0 || zoom > static_cast<int64_t>(kMaxZoom)) return false;
    zooms->resize(std::max(zooms->size(), static_cast<size_t>(zoom) + 1));
    TileDatabase::Zoom &described = (*zooms)[static_cast<size_t>(zoom)];
    described.level = words.next();
    described.column = words.next();
    described.row = words.next();
  }
  return words.ok();
}

// Further arguments: root, path below it, identity, words: number of the database, modified (seconds), bytes of a page, inode, size, modified and
// changed (nanoseconds), zooms, steps. The values are shared with src/cold-tiles/cold-sets.ts. Touched: the file has the described content, but its inode
// has changed since.
enum class Put { Not = 0, Done = 1, Touched = 2 };
Put put_database_set(const Call &call) {
  Words words(call.array<int64_t>(13));
  const int64_t id = words.next();
  TileDatabase::Facts facts;
  facts.identity = call.text(12);
  facts.modified = words.next();
  facts.page_bytes = words.next();
  facts.stamp.inode = words.next();
  facts.stamp.size = words.next();
  facts.stamp.modified_ns = words.next();
  facts.stamp.changed_ns = words.next();
  if (facts.modified < 0 || !read_zooms(words, &facts.zooms) || !read_steps(words, &facts.steps)) return Put::Not;
  std::shared_ptr<TileDatabase> database = cold_sets.database(id);
  if (database && database->facts().stamp == facts.stamp && database->is_current()) database->touch();
  else {
    const int fd = TileRoot::at(call.text(10))->open(call.text(11).c_str(), this_moment().monotonic);
    TileDatabase::Stamp now;
    if (!TileDatabase::Stamp::of(fd, &now) || !(now == facts.stamp)) {
      if (fd < 0) return Put::Not;
      close(fd);
      return now.is_content_of(facts.stamp) ? Put::Touched : Put::Not;
    }
    database = std::make_shared<TileDatabase>(fd, std::move(facts));
    cold_sets.put_database(id, database);
  }
  std::unique_ptr<ColdSet> set = set_of(call);
  set->database = std::move(database);
  cold_sets.put(std::move(set));
  return Put::Done;
}

// Arguments: number, descriptor, identity, modified (seconds), lowest and highest zoom, [offset and length of the leaves, of the tiles; bytes of an
// extent and of a block, 0 and 0 for a file] as bytes of doubles, bytes to put before each tile, the columns of the root directory.
napi_value put_archive(const Call &call) {
  const std::string_view bytes = call.bytes(6);
  double sections[6];
  if (bytes.size() != sizeof sections) return nullptr;
  bytes.copy(reinterpret_cast<char *>(sections), sizeof sections);
  TileArchive::Facts facts;
  facts.identity = call.text(2);
  facts.modified = call.integer(3);
  facts.min_zoom = static_cast<uint32_t>(call.integer(4));
  facts.max_zoom = static_cast<uint32_t>(call.integer(5));
  facts.leaves = {static_cast<uint64_t>(sections[0]), static_cast<uint64_t>(sections[1])};
  facts.tiles = {static_cast<uint64_t>(sections[2]), static_cast<uint64_t>(sections[3])};
  facts.extent_bytes = static_cast<uint64_t>(sections[4]);
  facts.block_bytes = static_cast<uint64_t>(sections[5]);
  facts.head = call.bytes(7);
  if (!facts.extent_bytes) facts.file = Descriptor::copy_of(static_cast<int>(call.integer(1)));
  cold_sets.put_archive(call.integer(0), std::make_shared<TileArchive>(facts, columns_of(call, 8)));
  return nullptr;
}

// Arguments: address of a set, identifiers of its tile matrix sets, media type and extension of its tiles.
napi_value put_wmts(const Call &call) {
  ColdSet *set = cold_sets.at(call.text(0));
  if (set) set->wmts = {call.text(1), call.text(2), call.text(3)};
  return nullptr;
}

// Arguments: address of a set, its lowest and highest zoom, head and body of the refusal for missing tiles at other zooms.
napi_value put_zooms(const Call &call) {
  ColdSet *set = cold_sets.at(call.text(0));
  if (!set) return nullptr;
  set->min_zoom = static_cast<uint32_t>(call.integer(1));
  set->max_zoom = static_cast<uint32_t>(call.integer(2));
  const std::string head = call.text(3);
  TileParts answer;
  answer.head = head;
  answer.body = call.bytes(4);
  set->beyond = TilePointer(new TileResponse(answer));
  return nullptr;
}

// Arguments: number of the archive, offset of the leaf in the file, its columns.
napi_value put_leaf(const Call &call) {
  const std::shared_ptr<TileArchive> archive = cold_sets.archive(call.integer(0));
  if (archive) archive->put_leaf(static_cast<uint64_t>(call.integer(1)), columns_of(call, 2));
  return nullptr;
}

// Arguments: number of the archive, number of the extent, its descriptor, and a byte for each block: 1 if it is on this machine.
napi_value put_extent(const Call &call) {
  const std::shared_ptr<TileArchive> archive = cold_sets.archive(call.integer(0));
  if (archive) archive->put_extent(static_cast<uint64_t>(call.integer(1)), static_cast<int>(call.integer(2)), call.bytes(3));
  return nullptr;
}
}  // namespace

void add_cold_sets(napi_env env, napi_value exports) {
  export_functions(env, exports, {
    {"canReadColdTiles", [](const Call &call) { return call.value(has_openat2()); }},
    // putHeads(head of a 200, head of a 304): their number
    {"putHeads", [](const Call &call) { return call.value(static_cast<double>(cold_sets.put_heads(call.text(0), call.text(1)))); }},
    {"putFolderSet", put_folder_set},
    {"putArchive", put_archive},
    {"putBundleSet", put_bundle_set},
    {"putArchiveSet", [](const Call &call) { return call.value(put_archive_set(call)); }},
    {"putWmts", put_wmts},
    {"putZooms", put_zooms},
    {"putDatabaseSet", [](const Call &call) { return call.value(static_cast<double>(put_database_set(call))); }},
    {"putLeaf", put_leaf},
    {"putExtent", put_extent},
    {"countPlaced", [](const Call &call) {
      return call.list(std::vector<double>{static_cast<double>(TileArchive::placed), static_cast<double>(TileArchive::placed_bytes)});
    }},
    {"forgetEvicted", [](const Call &) -> napi_value { return TileArchive::forget_evicted(), nullptr; }},
  });
}
