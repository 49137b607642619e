// Records of an SQLite database (sqlite.org/fileformat2.html, 2.1), read without trust in any of their numbers.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <string_view>

namespace sqlite {
inline uint32_t big_endian(const char *bytes, size_t count) {
  uint32_t value = 0;
  for (size_t i = 0; i < count; i++) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// Reads values from a piece of memory, in order. `ok` is false after the first value beyond its end.
class Bytes {
 public:
  Bytes(const char *begin, const char *end) : at_(begin), end_(end) {}
  // Reads an integer of 1 to 9 bytes (file format, 1.6, "varint").
  uint64_t varint() {
    uint64_t value = 0;
    for (int i = 0; i < 9; i++) {
      if (at_ >= end_) return ok_ = false;
      const auto byte = static_cast<unsigned char>(*at_++);
      if (i == 8) return value << 8 | byte;
      value = value << 7 | (byte & 0x7f);
      if (byte < 0x80) break;
    }
    return value;
  }
  void skip(size_t count) {
    if (count > rest()) ok_ = false;
    else at_ += count;
  }
  const char *at() const { return at_; }
  size_t rest() const { return static_cast<size_t>(end_ - at_); }
  bool ok() const { return ok_; }

 private:
  const char *at_, *end_;
  bool ok_ = true;
};

// A number or a text; other types are left to SQLite.
struct Value {
  enum Kind { Null, Number, Text, Blob, Other } kind = Other;
  int64_t number = 0;
  std::string_view bytes;
};

// The content of a cell: the beginning of a record, and the place of its rest.
struct Payload {
  uint64_t size = 0;
  std::string_view local;
  uint32_t overflow = 0;  // page
};

// One column of a record: its type (file format, 2.1), and the offset of its bytes in the record.
struct Column {
  uint64_t type, offset;
  uint64_t size() const {
    constexpr uint64_t sizes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
    return type < 12 ? sizes[type] : (type - 12) / 2;
  }
};

// The columns of a record, and its bytes if they are in this page.
struct Record {
  static constexpr size_t kMaxColumns = 32;  // Limit: tables of tiles have half a dozen.
  Payload payload;
  Column columns[kMaxColumns];
  size_t count = 0;
};

// False if the head of the record continues in another page, or the length of the record differs from that of its columns. SQLite's reading of an
// invalid record depends on its short cuts.
bool read_record(const Payload &payload, Record *record);
// Returns Other if the column does not exist, is of another type, or is not in this page.
Value value_of(const Record &record, size_t wanted);
// Compares in SQLite's order: null, numbers, texts by their bytes, blobs. Neither value may be Other.
int compare(const Value &one, const Value &other);
}  // namespace sqlite
