#include "sqlite_record.h"

#include <algorithm>

namespace sqlite {
bool read_record(const Payload &payload, Record *record) {
  const char *const begin = payload.local.data();
  Bytes sizing(begin, begin + payload.local.size());
  const uint64_t head = sizing.varint();
  if (!sizing.ok() || head > payload.local.size()) return false;
  Bytes types(sizing.at(), std::max(sizing.at(), begin + head));
  uint64_t offset = head;
  size_t count = 0;
  while (types.rest() > 0) {
    const Column column{types.varint(), offset};
    const uint64_t size = column.size();
    if (!types.ok() || size > payload.size - offset || count == Record::kMaxColumns) return false;
    offset += size;
    record->columns[count++] = column;
  }
  record->payload = payload;
  record->count = count;
  return offset == payload.size;
}

Value value_of(const Record &record, size_t wanted) {
  if (wanted >= record.count) return {};
  const Column &column = record.columns[wanted];
  const uint64_t size = column.size();
  if (column.offset + size > record.payload.local.size()) return {};
  const std::string_view bytes = record.payload.local.substr(column.offset, size);
  if (column.type == 0) return {Value::Null, 0, {}};
  if (column.type == 8 || column.type == 9) return {Value::Number, column.type == 9, {}};
  if (column.type >= 12) return {column.type % 2 ? Value::Text : Value::Blob, 0, bytes};
  if (column.type > 6) return {};
  uint64_t number = static_cast<signed char>(bytes[0]) < 0 ? UINT64_MAX : 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return {Value::Number, static_cast<int64_t>(number), {}};
}

int compare(const Value &one, const Value &other) {
  if (one.kind != other.kind) return one.kind < other.kind ? -1 : 1;
  if (one.kind == Value::Number) return one.number < other.number ? -1 : one.number > other.number;
  return one.bytes.compare(other.bytes);
}
}  // namespace sqlite
