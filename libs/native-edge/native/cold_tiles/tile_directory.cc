#include "tile_directory.h"

#include <algorithm>

namespace {
// Seven bits per byte, lowest first; all bytes except the last have the highest bit set.
void put(std::string *packed, uint64_t number) {
  for (; number >= 0x80; number >>= 7) packed->push_back(static_cast<char>(number | 0x80));
  packed->push_back(static_cast<char>(number));
}

uint64_t take(const char **at) {
  uint64_t number = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<uint8_t>(*(*at)++);
    number |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return number;
  }
}
}  // namespace

TileDirectory::TileDirectory(const DirectoryColumns &columns) {
  anchors_.reserve((columns.count + kStretch - 1) / kStretch);
  Entry before{};
  for (size_t i = 0; i < columns.count; i++) {
    const Entry entry{static_cast<uint64_t>(columns.ids[i]), static_cast<uint64_t>(columns.offsets[i]), static_cast<uint64_t>(columns.runs[i]),
                      columns.lengths[i]};
    if (i % kStretch == 0) {
      anchors_.push_back({entry, packed_.size()});
    } else {
      // Most tiles directly follow the previous one in the file, which takes a bit instead of an offset. Unsigned differences
      // work for any order.
      const bool follows = entry.offset == before.offset + before.length;
      put(&packed_, entry.id - before.id);
      put(&packed_, entry.run << 1 | (follows ? 1 : 0));
      put(&packed_, entry.length);
      if (!follows) put(&packed_, entry.offset);
    }
    before = entry;
  }
  packed_.shrink_to_fit();
}

bool TileDirectory::find(uint64_t id, Entry *entry) const {
  auto anchor = std::upper_bound(anchors_.begin(), anchors_.end(), id, [](uint64_t one, const Anchor &each) { return one < each.first.id; });
  if (anchor == anchors_.begin()) return false;
  const char *const end = packed_.data() + (anchor == anchors_.end() ? packed_.size() : anchor->others);
  --anchor;
  *entry = anchor->first;
  for (const char *at = packed_.data() + anchor->others; at < end;) {
    const uint64_t next = entry->id + take(&at);
    if (next > id) break;
    const uint64_t head = take(&at);
    const auto length = static_cast<uint32_t>(take(&at));
    const uint64_t offset = head & 1 ? entry->offset + entry->length : take(&at);
    *entry = {next, offset, head >> 1, length};
  }
  return entry->run == 0 || id - entry->id < entry->run;
}
