// The format and the compression of a tile by its first bytes, which decide its Content-Type and Content-Encoding: `kindOf` of
// libs/tilesets/src/formats.ts.
#pragma once
#include <stddef.h>

#include <string_view>

// Number of first bytes that tell the kind of an image, and whether a vector tile is packed.
constexpr size_t kImageSignature = 32, kGzipSignature = 2;

// True if the bytes are gzip (RFC 1952).
inline bool is_gzip(std::string_view start) { return start.substr(0, kGzipSignature) == "\x1f\x8b"; }

// Returns the media type of an image, or that of the set for other bytes.
inline std::string_view image_type(std::string_view start, std::string_view of_set) {
  using namespace std::string_view_literals;
  if (start.substr(0, 8) == "\x89PNG\r\n\x1a\n"sv) return "image/png";
  if (start.substr(0, 3) == "\xff\xd8\xff"sv) return "image/jpeg";
  if (start.substr(0, 4) == "RIFF"sv && start.size() >= 12 && start.substr(8, 4) == "WEBP"sv) return "image/webp";
  if (start.size() < 12 || start.substr(4, 4) != "ftyp"sv) return of_set;
  // The major brand or a compatible one (ISO/IEC 14496-12, 4.3).
  for (size_t at = 8; at + 4 <= kImageSignature && at + 4 <= start.size(); at += 4) {
    const std::string_view brand = start.substr(at, 4);
    if (brand == "avif"sv || brand == "avis"sv) return "image/avif";
  }
  return of_set;
}
