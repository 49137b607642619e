#include "wmts_tile.h"

#include <strings.h>

#include <algorithm>
#include <string>

#include "cold_sets.h"

namespace {
enum Key { Service, Request, Version, Layer, Style, MatrixSet, TileMatrix, TileRow, TileCol, Format, Time, kKeys };
constexpr std::string_view kNames[kKeys] = {"service", "request", "version",       "layer",      "style",
                                            "tilematrixset", "tilematrix", "tilerow", "tilecol", "format", "time"};

bool equals(std::string_view text, std::string_view lower_case) {
  return text.size() == lower_case.size() && strncasecmp(text.data(), lower_case.data(), text.size()) == 0;
}

// Removes the text up to the next separator, and the separator. Returns the text.
std::string_view take_part(std::string_view *text, char separator) {
  const size_t end = std::min(text->find(separator), text->size());
  const std::string_view part = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return part;
}

// The first value of each name, in any case. Data is null for a missing name.
struct Parameters {
  std::string_view values[kKeys];

  explicit Parameters(std::string_view query) {
    while (!query.empty()) {
      std::string_view value = take_part(&query, '&');
      const std::string_view name = take_part(&value, '=');
      for (int key = 0; key < kKeys; key++) {
        if (equals(name, kNames[key]) && !values[key].data()) values[key] = value;
      }
    }
  }
  bool is_missing_or(Key key, std::string_view value) const { return !values[key].data() || values[key] == value; }
};

bool is_code(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '-' || c == '_' || c == '.';
  });
}

// True for digits; the range is checked when the path is parsed.
bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_media_type(std::string_view text, std::string_view type) {
  constexpr std::string_view encoded = "%2f";
  const size_t slash = type.find('/');
  if (text == type) return true;
  if (slash == type.npos || text.substr(0, slash) != type.substr(0, slash)) return false;
  const std::string_view rest = text.substr(slash);
  return equals(rest.substr(0, encoded.size()), encoded) && rest.substr(encoded.size()) == type.substr(slash + 1);
}

bool is_among(std::string_view name, std::string_view names) {
  const size_t at = names.find(name);
  return !name.empty() && at != names.npos && at > 0 && names[at - 1] == ' ' && names[at + name.size()] == ' ';
}
}  // namespace

std::string_view wmts_tile_path(std::string_view query, int64_t now) {
  static std::string path;
  // JavaScript compares names in upper case, and some letters beyond ASCII have upper-case forms within it.
  if (std::any_of(query.begin(), query.end(), [](char c) { return static_cast<unsigned char>(c) > 127; })) return {};
  const Parameters parameters(query);
  const auto &values = parameters.values;
  const bool is_request = equals(values[Request], "gettile") && equals(values[Service], "wmts") &&
                          parameters.is_missing_or(Version, "1.0.0") && values[Style].data() && (values[Style].empty() || values[Style] == "default") && !values[Time].data();
  if (!is_request || !is_code(values[Layer])) return {};
  for (const Key key : {TileMatrix, TileRow, TileCol}) {
    if (!is_digits(values[key])) return {};
  }
  path.assign("/tiles/").append(values[Layer]).append("/current/").append(values[TileMatrix]).append("/").append(values[TileCol]);
  path.append("/").append(values[TileRow]).append(".");
  std::string_view rest;
  const ColdSet *set = cold_sets.find(path, now, &rest);
  if (!set || !is_among(values[MatrixSet], set->wmts.matrix_sets) || !is_media_type(values[Format], set->wmts.media_type)) return {};
  path.append(set->wmts.extension);
  return path;
}
