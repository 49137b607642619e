#include "token_form.h"

#include <stdint.h>
#include <stddef.h>

namespace {
constexpr std::string_view kMark = "bmp_";
constexpr std::string_view kBase62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr size_t kChecked = kMark.size() + 32, kLength = kChecked + 6;

struct CrcTable {
  uint32_t of[256] = {};
  constexpr CrcTable() {
    for (uint32_t byte = 0; byte < 256; byte++) {
      uint32_t rest = byte;
      for (int bit = 0; bit < 8; bit++) rest = rest & 1 ? rest >> 1 ^ 0xedb88320u : rest >> 1;
      of[byte] = rest;
    }
  }
};
constexpr CrcTable kCrc;

// CRC-32 (ISO 3309, as in zip).
uint32_t crc32(std::string_view text) {
  uint32_t crc = ~0u;
  for (const char c : text) crc = crc >> 8 ^ kCrc.of[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return ~crc;
}

bool is_alphanumeric(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
}  // namespace

bool is_plain_text(std::string_view text) {
  for (const char c : text) {
    if (!is_alphanumeric(c) && c != '_') return false;
  }
  return !text.empty();
}

bool is_well_formed_token(std::string_view text) {
  if (text.size() != kLength || text.substr(0, kMark.size()) != kMark) return false;
  for (const char c : text.substr(kMark.size())) {
    if (!is_alphanumeric(c)) return false;
  }
  // Base62, most significant digit first.
  uint32_t rest = crc32(text.substr(0, kChecked));
  for (size_t i = kLength; i-- > kChecked; rest /= kBase62.size()) {
    if (text[i] != kBase62[rest % kBase62.size()]) return false;
  }
  return true;
}
