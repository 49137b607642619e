#include "tile_database.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "../hot_tiles/cached_file.h"
#include "sqlite_record.h"

using namespace sqlite;

namespace {
using Found = TileDatabase::Found;

constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr size_t kMinOnePage = 512, kMaxOnePage = 65'536;
// SQLite considers deeper trees damaged (BTCURSOR_MAX_DEPTH).
constexpr int kMaxDepth = 20;
// Limit: bytes of a text that joins two tables, such as a hash of the tile.
constexpr size_t kMaxText = 256;
// Number of pages of a large value that are read at once, at first and at most. The pages are mostly consecutive; if not, few unneeded pages are
// read.
constexpr size_t kFirstRun = 8, kMaxRun = 256;
constexpr size_t kPageNumberBytes = 4;

// One tile at a time is read, on one thread.
char one_page[kMaxOnePage], other_page[kMaxOnePage];

// A page of a tree, in memory that the next read overwrites, or in the cache.
struct Page {
  enum Kind : unsigned char { InnerIndex = 2, InnerTable = 5, LeafIndex = 10, LeafTable = 13 };
  const char *begin = nullptr;
  size_t bytes = 0;
  unsigned char kind = 0;
  size_t count = 0;  // of cells
  TileDatabase::Kept held;

  bool is_leaf() const { return kind & 8; }
  size_t head() const { return is_leaf() ? 8 : 12; }
  uint32_t last_child() const { return big_endian(begin + 8, 4); }
  // Returns null if the cell is outside of the page.
  const char *cell(size_t i) const {
    const size_t offset = big_endian(begin + head() + 2 * i, 2);
    return offset >= head() + 2 * count && offset + 4 <= bytes ? begin + offset : nullptr;
  }
};

// Reads the record of a cell, after its page numbers, if it has any.
bool read_payload(const Page &page, Bytes cell, uint64_t size, Payload *payload) {
  const size_t usable = page.bytes, least = (usable - 12) * 32 / 255 - 23;
  const size_t most = page.kind == Page::LeafTable ? usable - 35 : (usable - 12) * 64 / 255 - 23;
  size_t local = size;
  if (size > most) {
    local = least + (size - least) % (usable - kPageNumberBytes);
    if (local > most) local = least;
  }
  const bool is_whole = local == size;
  payload->size = size;
  payload->local = {cell.at(), std::min(local, cell.rest())};
  cell.skip(local);
  if (!is_whole && cell.rest() >= kPageNumberBytes) payload->overflow = big_endian(cell.at(), kPageNumberBytes);
  return cell.ok() && (is_whole || payload->overflow != 0);
}

bool read_index_cell(const Page &page, size_t i, Record *record) {
  const char *begin = page.cell(i);
  if (!begin) return false;
  Bytes cell(begin, page.begin + page.bytes);
  if (!page.is_leaf()) cell.skip(4);
  const uint64_t size = cell.varint();
  Payload payload;
  return cell.ok() && read_payload(page, cell, size, &payload) && read_record(payload, record);
}

// A look-up in a file.
class Walk {
 public:
  explicit Walk(TileDatabase &database) : database_(database), page_bytes_(database.page_bytes()) {}

  // Finds the first row at or after the keys, if it has all of them.
  Found seek_index(int64_t root, const std::vector<Value> &keys, Record *record);
  Found seek_row(int64_t root, int64_t number, Record *record);
  // Copies a part of a record into `target`. False if it is not completely in memory, or begins in another page.
  bool copy(const Payload &payload, const Column &column, char *target) const;

 private:
  bool read_page(uint32_t number, int into, int depth, bool is_index, Page *page);
  TileDatabase &database_;
  const size_t page_bytes_;
  TileDatabase::Kept held_;  // the page of the record that was found
};

bool Walk::read_page(uint32_t number, int into, int depth, bool is_index, Page *page) {
  // The first page begins with the file header; no tree that is walked has its root there.
  if (number < 2 || depth >= kMaxDepth) return false;
  // The page is at the end of the memory, so that a sanitizer detects reads beyond it.
  char *const memory = (into ? other_page : one_page) + kMaxOnePage - page_bytes_;
  page->held = database_.kept_page(number);
  page->begin = page->held ? page->held.get() : memory;
  const iovec whole{memory, page_bytes_};
  const off_t offset = static_cast<off_t>(number - 1) * static_cast<off_t>(page_bytes_);
  if (!page->held && read_cached(database_.file(), offset, &whole, 1) != Cached::Done) return false;
  page->bytes = page_bytes_;
  page->kind = static_cast<unsigned char>(page->begin[0]);
  page->count = big_endian(page->begin + 3, 2);
  const bool is_right = is_index ? page->kind == Page::InnerIndex || page->kind == Page::LeafIndex
                                 : page->kind == Page::InnerTable || page->kind == Page::LeafTable;
  // SQLite leaves a page empty only if it is the root of an empty tree.
  const bool may_be_empty = depth == 0 && page->is_leaf();
  if (!is_right || (page->count == 0 && !may_be_empty) || page->head() + 2 * page->count > page_bytes_) return false;
  // Pages on the way to many tiles are cached, pages of the tiles themselves are not.
  const bool is_shared = is_index || !page->is_leaf();
  if (is_shared && !page->held) database_.keep_page(number, memory);
  return true;
}

// Halves exactly like SQLite, so that an index out of order leads to the same row.
Found Walk::seek_index(int64_t root, const std::vector<Value> &keys, Record *record) {
  Page page, candidate;
  size_t place = 0;  // of the candidate in its page: the next entry after all below the child that is walked
  int into = 0;
  auto number = static_cast<uint32_t>(root);
  for (int depth = 0;; depth++) {
    if (!read_page(number, into, depth, true, &page)) return Found::Unknown;
    size_t low = 0, high = page.count;
    while (low < high) {
      const size_t middle = (low + high - 1) / 2;
      Record cell;
      if (!read_index_cell(page, middle, &cell)) return Found::Unknown;
      int order = 0;
      for (size_t i = 0; i < keys.size() && order == 0; i++) {
        const Value value = value_of(cell, i);
        if (value.kind == Value::Other) return Found::Unknown;
        order = compare(value, keys[i]);
      }
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    if (low < page.count) {
      candidate = page;
      place = low;
      into = 1 - into;
    }
    if (page.is_leaf()) break;
    const char *cell = low < page.count ? page.cell(low) : nullptr;
    if (low < page.count && !cell) return Found::Unknown;
    number = cell ? big_endian(cell, 4) : page.last_child();
  }
  if (!candidate.begin) return Found::Absent;
  held_ = candidate.held;
  if (!read_index_cell(candidate, place, record)) return Found::Unknown;
  for (size_t i = 0; i < keys.size(); i++) {
    const Value value = value_of(*record, i);
    if (value.kind == Value::Other) return Found::Unknown;
    if (compare(value, keys[i]) != 0) return Found::Absent;
  }
  return Found::Tile;
}

Found Walk::seek_row(int64_t root, int64_t wanted, Record *record) {
  Page page;
  auto number = static_cast<uint32_t>(root);
  for (int depth = 0;; depth++) {
    if (!read_page(number, 0, depth, false, &page)) return Found::Unknown;
    size_t low = 0, high = page.count;
    while (low < high) {
      const size_t middle = (low + high - 1) / 2;
      const char *begin = page.cell(middle);
      if (!begin) return Found::Unknown;
      Bytes cell(begin, page.begin + page.bytes);
      uint64_t size = 0;
      if (page.is_leaf()) size = cell.varint();
      else cell.skip(4);
      const auto row = static_cast<int64_t>(cell.varint());
      if (!cell.ok()) return Found::Unknown;
      if (page.is_leaf() && row == wanted) {
        Payload payload;
        return read_payload(page, cell, size, &payload) && read_record(payload, record) ? Found::Tile : Found::Unknown;
      }
      if (row < wanted) low = middle + 1;
      else if (row > wanted || page.is_leaf()) high = middle;
      else low = high = middle;  // the row is the last one below this cell's child
    }
    if (page.is_leaf()) return Found::Absent;
    const char *cell = low < page.count ? page.cell(low) : nullptr;
    if (low < page.count && !cell) return Found::Unknown;
    number = cell ? big_endian(cell, 4) : page.last_child();
  }
}

bool Walk::copy(const Payload &payload, const Column &column, char *target) const {
  static iovec into[2 * kMaxRun];
  static char numbers[kMaxRun][kPageNumberBytes];
  if (column.offset > payload.local.size()) return false;
  size_t done = payload.local.copy(target, column.size(), column.offset);
  const size_t size = column.size(), each = page_bytes_ - kPageNumberBytes;
  uint32_t page = payload.overflow;
  // A page contains the number of the next one and a piece of the record. They are read as if they were consecutive, as long as that proves to be
  // true.
  for (size_t run = kFirstRun; done < size;) {
    const size_t count = std::min(run, (size - done + each - 1) / each);
    for (size_t i = 0; i < count; i++) {
      into[2 * i] = {numbers[i], kPageNumberBytes};
      into[2 * i + 1] = {target + done + i * each, std::min(each, size - done - i * each)};
    }
    const off_t offset = static_cast<off_t>(page - 1) * static_cast<off_t>(page_bytes_);
    if (page < 2) return false;
    if (read_cached(database_.file(), offset, into, static_cast<int>(2 * count)) != Cached::Done) {
      if (count == 1) return false;
      run = 1;  // the pages behind this one may not exist, or belong to other values
      continue;
    }
    run = std::min(run * 2, kMaxRun);
    for (size_t i = 0; i < count && done < size; i++) {
      done += into[2 * i + 1].iov_len;
      const uint32_t expected = page + 1;
      page = big_endian(numbers[i], kPageNumberBytes);
      if (page == expected) continue;
      run = 1;
      break;
    }
  }
  return true;
}
}  // namespace

std::vector<TileDatabase *> &TileDatabase::open_ones = *new std::vector<TileDatabase *>;
TileDatabase::Pages &TileDatabase::all_pages = *new Pages;
size_t TileDatabase::all_page_bytes = 0;

bool TileDatabase::Stamp::of(int fd, Stamp *stamp) {
  struct stat stat;
  if (fd < 0 || fstat(fd, &stat)) return false;
  const auto ns = [](const timespec &time) { return time.tv_sec * kNsPerSecond + time.tv_nsec; };
  *stamp = {static_cast<int64_t>(stat.st_ino), stat.st_size, ns(stat.st_mtim), ns(stat.st_ctim)};
  return true;
}

TileDatabase::TileDatabase(int fd, Facts facts) : fd_(fd), facts_(std::move(facts)) {
  const auto bytes = static_cast<size_t>(facts_.page_bytes);
  if (bytes < kMinOnePage || bytes > kMaxOnePage || facts_.steps.empty()) {
    let_go();
    return;
  }
  open_ones.push_back(this);
  if (open_ones.size() > kMaxOpen) open_ones.front()->let_go();
}

TileDatabase::~TileDatabase() { let_go(); }

void TileDatabase::let_go() {
  open_ones.erase(std::remove(open_ones.begin(), open_ones.end(), this), open_ones.end());
  while (!pages_.empty()) drop_page(pages_.begin()->second);
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

void TileDatabase::drop_page(Pages::iterator page) {
  all_page_bytes -= page->database->page_bytes();
  page->database->pages_.erase(page->number);
  all_pages.erase(page);
}

TileDatabase::Kept TileDatabase::kept_page(uint32_t number) {
  const auto found = pages_.find(number);
  if (found == pages_.end()) return nullptr;
  all_pages.splice(all_pages.begin(), all_pages, found->second);
  return found->second->bytes;
}

void TileDatabase::keep_page(uint32_t number, const char *bytes) {
  Kept copy(new char[page_bytes()]);
  memcpy(copy.get(), bytes, page_bytes());
  all_pages.push_front({this, number, std::move(copy)});
  pages_[number] = all_pages.begin();
  all_page_bytes += page_bytes();
  while (all_page_bytes > kMaxPageBytes) drop_page(std::prev(all_pages.end()));
}

void TileDatabase::touch() {
  const auto at = std::find(open_ones.begin(), open_ones.end(), this);
  if (at != open_ones.end()) std::rotate(at, at + 1, open_ones.end());
}

bool TileDatabase::is_current() {
  Stamp now;
  if (Stamp::of(fd_, &now) && now == facts_.stamp) return true;
  let_go();
  return false;
}

Found TileDatabase::read(const TilePlace &place, char *target, size_t *size) {
  if (fd_ < 0) return Found::Unknown;
  static char text[kMaxText];
  const auto number = [](int64_t number) { return Value{Value::Number, number, {}}; };
  Value values[] = {number(place.z), number(place.x), number((int64_t{1} << place.z) - 1 - place.y), {}};
  if (!facts_.zooms.empty()) {
    const Zoom *zoom = place.z < facts_.zooms.size() ? &facts_.zooms[place.z] : nullptr;
    if (!zoom || zoom->level < 0) return is_current() ? Found::Absent : Found::Unknown;
    values[0] = number(zoom->level);
    values[1] = number(place.x - zoom->column);
    values[2] = number(place.y - zoom->row);
  }
  Walk walk(*this);
  std::vector<Value> keys;
  for (const Step &step : facts_.steps) {
    keys.clear();
    for (const Key key : step.keys) keys.push_back(values[static_cast<size_t>(key)]);
    Record record;
    int64_t row = keys[0].number;
    if (!step.index && keys[0].kind != Value::Number) return Found::Unknown;
    if (step.index) {
      const Found found = walk.seek_index(step.index, keys, &record);
      if (found != Found::Tile) return found == Found::Absent && !is_current() ? Found::Unknown : found;
      if (step.table) {
        const Value last = value_of(record, keys.size());
        if (last.kind != Value::Number) return Found::Unknown;
        row = last.number;
      }
    }
    if (step.table) {
      const Found found = walk.seek_row(step.table, row, &record);
      // An index that refers to a missing row is damaged.
      if (found != Found::Tile) return found == Found::Absent && !step.index && is_current() ? Found::Absent : Found::Unknown;
    }
    if (&step == &facts_.steps.back()) {
      const auto wanted = static_cast<size_t>(step.column);
      if (wanted >= record.count) return Found::Unknown;
      const Column column = record.columns[wanted];
      constexpr uint64_t null = 0, empty_blob = 12;
      if (column.type == null || column.type == empty_blob) return is_current() ? Found::Absent : Found::Unknown;
      const bool is_blob = column.type > empty_blob && column.type % 2 == 0;
      if (!is_blob || column.size() > kMaxTile || !walk.copy(record.payload, column, target)) return Found::Unknown;
      *size = column.size();
      return is_current() ? Found::Tile : Found::Unknown;
    }
    Value found = value_of(record, static_cast<size_t>(step.column));
    if (found.kind == Value::Null) return is_current() ? Found::Absent : Found::Unknown;
    if (found.kind == Value::Text && found.bytes.size() <= kMaxText) found.bytes = {text, found.bytes.copy(text, kMaxText)};
    else if (found.kind != Value::Number) return Found::Unknown;
    values[static_cast<size_t>(Key::Found)] = found;
  }
  return Found::Unknown;
}
