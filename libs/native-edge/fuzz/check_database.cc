#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <map>

#include "../native/cold_tiles/tile_database.h"
#include "check.h"

namespace {
using Key = TileDatabase::Key;
using TileKey = std::array<int64_t, 3>;  // zoom, column, row from the south

std::string big_endian(uint64_t value, size_t bytes) {
  std::string text;
  while (bytes-- > 0) text += static_cast<char>(value >> 8 * bytes);
  return text;
}

// Encodes values below 2^56.
std::string varint(uint64_t value) {
  std::string text(1, static_cast<char>(value & 0x7f));
  while (value >>= 7) text.insert(0, 1, static_cast<char>(value | 0x80));
  return text;
}

// Encodes numbers, followed by `bytes` if it is not null.
std::string record(const std::vector<int64_t> &numbers, const std::string *bytes) {
  std::string types, values;
  for (const int64_t number : numbers) {
    const size_t size = number < 128 ? 1 : number < 32'768 ? 2 : 4;
    types += static_cast<char>(size == 4 ? 4 : size);
    values += big_endian(static_cast<uint64_t>(number), size);
  }
  if (bytes) types += varint(bytes->size() * 2 + 12);
  const std::string head = varint(types.size() + 1) + types;
  return head + values + (bytes ? *bytes : "");
}

// A database of one table with an index, as SQLite would write it: leaves below one root.
class Writer {
 public:
  Writer(Choices &choices, size_t page_bytes) : choices_(choices), page_bytes_(page_bytes), pages_(1) {}

  TileDatabase::Step write(const std::map<TileKey, std::string> &tiles) {
    std::vector<std::string> rows, entries;
    std::vector<int64_t> numbers;
    for (const auto &[address, bytes] : tiles) {
      numbers.push_back((numbers.empty() ? 0 : numbers.back()) + 1 + static_cast<int64_t>(choices_.below(200)));
      const std::vector<int64_t> key(address.begin(), address.end());
      rows.push_back(cell(varint(static_cast<uint64_t>(numbers.back())), record(key, &bytes), page_bytes_ - 35));
      std::vector<int64_t> entry = key;
      entry.push_back(numbers.back());
      entries.push_back(cell("", record(entry, nullptr), (page_bytes_ - 12) * 64 / 255 - 23));
    }
    TileDatabase::Step step;
    step.keys = {Key::Zoom, Key::Column, Key::Row};
    step.column = 3;
    step.table = write_table(rows, numbers);
    step.index = write_index(entries);
    return step;
  }

  std::string text() const {
    std::string all;
    for (const std::string &page : pages_) all += page + std::string(page_bytes_ - page.size(), '\0');
    return all;
  }
  size_t count() const { return pages_.size(); }

 private:
  static constexpr unsigned char kInnerIndex = 2, kInnerTable = 5, kLeafIndex = 10, kLeafTable = 13;

  size_t add(std::string page) {
    pages_.push_back(std::move(page));
    return pages_.size();
  }

  // Writes a cell with the overflow pages of a long record, which are not always consecutive.
  std::string cell(const std::string &row, const std::string &record, size_t most) {
    const size_t least = (page_bytes_ - 12) * 32 / 255 - 23, each = page_bytes_ - 4;
    size_t local = record.size();
    if (local > most) {
      local = least + (record.size() - least) % each;
      if (local > most) local = least;
    }
    std::string made = varint(record.size()) + row + record.substr(0, local);
    if (local < record.size()) made += big_endian(pages_.size() + 1, 4);
    for (size_t at = local; at < record.size(); at += each) {
      const size_t page = add(""), gap = choices_.once_in(5) ? 1 : 0;
      const bool is_last = at + each >= record.size();
      if (gap && !is_last) add("");
      pages_[page - 1] = big_endian(is_last ? 0 : page + 1 + gap, 4) + record.substr(at, each);
    }
    return made;
  }

  std::string page(unsigned char kind, const std::vector<std::string> &cells, uint64_t last_child) const {
    const bool is_leaf = kind & 8;
    std::string cell_text, pointers;
    size_t at = page_bytes_;
    for (const std::string &each : cells) {
      at -= each.size();
      cell_text = each + cell_text;
      pointers += big_endian(at, 2);
    }
    std::string head = std::string(1, static_cast<char>(kind)) + big_endian(0, 2) + big_endian(cells.size(), 2) + big_endian(at, 2) + std::string(1, '\0');
    if (!is_leaf) head += big_endian(last_child, 4);
    const std::string begin = head + pointers;
    return begin + std::string(at - begin.size(), '\0') + cell_text;
  }

  // Returns how many of the cells from here on fit into a page.
  size_t fitting(const std::vector<std::string> &cells, size_t from) const {
    size_t used = 12, count = 0;
    while (from + count < cells.size() && used + cells[from + count].size() + 2 <= page_bytes_) used += cells[from + count++].size() + 2;
    return count;
  }

  int64_t write_table(const std::vector<std::string> &rows, const std::vector<int64_t> &numbers) {
    std::vector<std::string> inner;
    uint64_t last = 0;
    for (size_t at = 0; at < rows.size();) {
      const size_t count = fitting(rows, at);
      const std::vector<std::string> here(rows.begin() + static_cast<long>(at), rows.begin() + static_cast<long>(at + count));
      last = add(page(kLeafTable, here, 0));
      at += count;
      if (at < rows.size()) inner.push_back(big_endian(last, 4) + varint(static_cast<uint64_t>(numbers[at - 1])));
    }
    if (rows.empty()) return static_cast<int64_t>(add(page(kLeafTable, {}, 0)));
    return static_cast<int64_t>(inner.empty() ? last : add(page(kInnerTable, inner, last)));
  }

  // An inner page contains its own entries, between those of its children.
  int64_t write_index(const std::vector<std::string> &entries) {
    std::vector<std::string> inner;
    uint64_t last = 0;
    for (size_t at = 0; at < entries.size();) {
      size_t count = fitting(entries, at);
      // Leaves a leaf for the entries behind that of the inner page.
      if (at + count + 1 == entries.size()) count--;
      const std::vector<std::string> here(entries.begin() + static_cast<long>(at), entries.begin() + static_cast<long>(at + count));
      last = add(page(kLeafIndex, here, 0));
      at += count;
      if (at < entries.size()) inner.push_back(big_endian(last, 4) + entries[at++]);
    }
    if (entries.empty()) return static_cast<int64_t>(add(page(kLeafIndex, {}, 0)));
    return static_cast<int64_t>(inner.empty() ? last : add(page(kInnerIndex, inner, last)));
  }

  Choices &choices_;
  const size_t page_bytes_;
  std::vector<std::string> pages_;
};

// Returns a file in memory, so that no read has to wait.
int file_of(const std::string &text) {
  const int fd = memfd_create("database", MFD_CLOEXEC);
  REQUIRE(fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()), "no memory");
  return fd;
}

TileDatabase::Facts facts_of(int fd, size_t page_bytes, const TileDatabase::Step &step) {
  TileDatabase::Facts facts;
  facts.page_bytes = static_cast<int64_t>(page_bytes);
  facts.steps = {step};
  REQUIRE(TileDatabase::Stamp::of(fd, &facts.stamp), "no status");
  return facts;
}

TilePlace place_of(const TileKey &address) {
  TilePlace place{};
  place.z = static_cast<uint32_t>(address[0]);
  place.x = static_cast<uint32_t>(address[1]);
  place.y = (uint32_t{1} << place.z) - 1 - static_cast<uint32_t>(address[2]);
  return place;
}

char tile[TileDatabase::kMaxTile];
}  // namespace

void check_database(Choices &choices) {
  const size_t page_bytes = size_t{512} << choices.below(choices.once_in(10) ? 8 : 3);
  std::map<TileKey, std::string> tiles;
  // The number of tiles is so small that one root holds the numbers of all pages.
  for (size_t i = choices.below(choices.once_in(4) ? 60 : 12); i > 0; i--) {
    const auto zoom = static_cast<int64_t>(choices.below(17));
    const size_t side = size_t{1} << zoom, size = choices.once_in(4) ? choices.below(5 * page_bytes) : choices.below(200);
    const std::string bytes = choices.text(std::min<size_t>(size, 20'000));
    tiles[{zoom, static_cast<int64_t>(choices.below(side)), static_cast<int64_t>(choices.below(side))}] = bytes;
  }
  Writer writer(choices, page_bytes);
  const TileDatabase::Step step = writer.write(tiles);
  std::string text = writer.text();
  const auto find = [&](TileDatabase &database, const TileKey &address) {
    size_t size = 0;
    const TileDatabase::Found found = database.read(place_of(address), tile, &size);
    REQUIRE(size <= sizeof tile, "too large");
    return std::make_pair(found, std::string_view(tile, found == TileDatabase::Found::Tile ? size : 0));
  };
  {
    const int fd = file_of(text);
    TileDatabase database(fd, facts_of(fd, page_bytes, step));
    for (const auto &[address, bytes] : tiles) {
      const auto [found, read] = find(database, address);
      REQUIRE(found == (bytes.empty() ? TileDatabase::Found::Absent : TileDatabase::Found::Tile), std::to_string(page_bytes));
      REQUIRE(read == bytes, "other bytes");
      TileKey other = address;
      other[0] = 18;
      REQUIRE(find(database, other).first == TileDatabase::Found::Absent, "a missing tile");
    }
    // Writing an equal byte is still a write.
    if (!tiles.empty() && choices.once_in(2)) {
      timespec times[2] = {{1, 0}, {1, static_cast<long>(choices.below(1'000))}};
      REQUIRE(futimens(fd, times) == 0, "no times");
      REQUIRE(find(database, tiles.begin()->first).first == TileDatabase::Found::Unknown, "the file has changed");
    }
  }
  // Damages pages. Each look-up must end with some result, and stay within its own memory.
  for (size_t i = 1 + choices.below(12); i > 0; i--) {
    const size_t page = 1 + choices.below(writer.count() - 1), within = choices.once_in(2) ? 40 : page_bytes;
    text[page * page_bytes + choices.below(within)] = static_cast<char>(choices.next());
  }
  if (choices.once_in(4)) text.resize(choices.below(std::min<size_t>(text.size(), 65'536)));
  const int fd = file_of(text);
  TileDatabase database(fd, facts_of(fd, page_bytes, step));
  for (int round = 0; round < 2; round++) {
    for (const auto &each : tiles) find(database, each.first);
  }
}
