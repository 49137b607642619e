// The JavaScript interface of the response table, called only by src/hot-tiles/response-table.ts.
#include <unordered_map>

#include "../addon.h"
#include "../call.h"
#include "../cold_tiles/cold_sets.h"
#include "../documents/document_table.h"
#include "answer_times.h"
#include "log_sampling.h"
#include "response_table.h"
#include "sampled_tiles.h"
#include "tile_response.h"

namespace {
// Arguments: target, head, body, basemap number, whether it needs gzip, head of a 304, etag, then of a file instead of the body: descriptor, offset,
// length; time of modification, the name of its version's usage, and a Grid.
napi_value put_tile(const Call &call) {
  const std::string target = call.text(0), head = call.text(1), not_modified = call.text(5), etag = call.text(6);
  FileRange range;
  range.offset = call.integer(8);
  range.length = static_cast<uint64_t>(call.integer(9));
  if (range.length) range.hold(Descriptor::copy_of(static_cast<int>(call.integer(7))));
  response_table.put_tile({target, head, call.bytes(2), static_cast<uint32_t>(call.integer(3)), call.truth(4), usage_of(call.text(11)), range,
                           call.integer(10), etag, not_modified, static_cast<Grid>(call.integer(12))});
  return nullptr;
}

// Returns the token's number. Arguments: text, expiry, whether it may read all, grants as bytes (a bit set in little-endian 64-bit words), name of
// its usage, prefix of its paths, whether it is of a signed URL, limits of its area (see TokenArea).
napi_value put_token(const Call &call) {
  TokenEntry token{call.text(0), call.truth(6), call.integer(1), static_cast<uint32_t>(call.integer(2))};
  const std::string_view bits = call.bytes(3);
  token.usage = usage_of(call.text(4));
  token.seen_at = this_moment().monotonic;
  token.grants.resize(bits.size() / sizeof(uint64_t));
  bits.copy(reinterpret_cast<char *>(token.grants.data()), token.grants.size() * sizeof(uint64_t));
  token.prefix = call.text(5);
  token.area = TokenArea(call.bytes(7));
  return call.value(static_cast<double>(response_table.put_token(std::move(token))));
}

// Arguments: a Refused, head, body.
napi_value set_refusal(const Call &call) {
  const int64_t why = call.integer(0);
  if (why < 0 || why >= static_cast<int64_t>(kRefusals)) return nullptr;
  const std::string head = call.text(1);
  TileParts answer;
  answer.head = head;
  answer.body = call.bytes(2);
  response_table.set_refusal(static_cast<Refused>(why), answer);
  return nullptr;
}

// Returns [responses with tiles or 304, body bytes of all responses, tiles, their bytes, tokens, truncated files, stalled readers, cold tiles,
// responses with 304, evicted tiles, documents of tiles and of the catalog, and the refusals by Refused].
napi_value counts(const Call &call) {
  std::vector<double> numbers = {static_cast<double>(hot_counts.answers), static_cast<double>(hot_counts.body_bytes),
                                 static_cast<double>(response_table.tile_count()), static_cast<double>(response_table.tile_bytes()),
                                 static_cast<double>(response_table.token_count()), static_cast<double>(hot_counts.truncated),
                                 static_cast<double>(hot_counts.stalled), static_cast<double>(hot_counts.cold),
                                 static_cast<double>(hot_counts.not_modified), static_cast<double>(response_table.evictions())};
  numbers.push_back(static_cast<double>(hot_counts.tile_documents));
  numbers.push_back(static_cast<double>(hot_counts.catalog_documents));
  for (const uint64_t refused : hot_counts.refusals) numbers.push_back(static_cast<double>(refused));
  return call.list(numbers);
}

// Argument: basemap number. Drops its tiles, and the sets from which they would be read.
napi_value drop_code(const Call &call) {
  const auto code = static_cast<uint32_t>(call.integer(0));
  cold_sets.drop_code(code);
  response_table.drop_code(code);
  return nullptr;
}

// Returns, for tiles in memory, tiles in the page cache, refusals, and documents of tiles and of the catalog: [seconds of all timed responses, and
// their number by AnswerTimes::kBounds].
napi_value answer_times(const Call &call) {
  std::vector<double> numbers;
  for (const AnswerTimes *times : {&times_in_memory, &times_in_page_cache, &times_of_refusals, &times_of_tile_documents, &times_of_catalog_documents}) {
    numbers.push_back(times->seconds);
    for (const uint64_t timed : times->buckets) numbers.push_back(static_cast<double>(timed));
  }
  return call.list(numbers);
}

// Returns, for all names that counted something since the last call: [names, each followed by NUL, counts as bytes of doubles: requests, tiles,
// missing tiles, refusals and bytes of each]. Names contain no NUL, since a path cannot.
napi_value take_usage(const Call &call) {
  std::string names;
  std::vector<double> counts;
  for (const auto &[name, usage] : ::take_usage()) {
    names.append(name).push_back('\0');
    for (const uint64_t count : {usage.requests, usage.tiles, usage.missing, usage.refused, usage.bytes}) counts.push_back(static_cast<double>(count));
  }
  napi_value taken, bytes;
  void *memory = nullptr;
  napi_create_arraybuffer(call.env, counts.size() * sizeof(double), &memory, &bytes);
  std::copy(counts.begin(), counts.end(), static_cast<double *>(memory));
  napi_create_array(call.env, &taken);
  napi_set_element(call.env, taken, 0, call.value(std::string_view(names)));
  napi_set_element(call.env, taken, 1, bytes);
  return taken;
}

// Argument: the limit; see limit_pairs.
napi_value limit_pairs(const Call &call) {
  ::limit_pairs(static_cast<size_t>(std::max<int64_t>(call.integer(0), 0)));
  return nullptr;
}

// Arguments: exact, every, seed; see SampledTiles::set.
napi_value sample_tiles(const Call &call) {
  sampled_tiles.set(static_cast<uint32_t>(call.integer(0)), static_cast<uint32_t>(call.integer(1)), static_cast<uint32_t>(call.integer(2)));
  return nullptr;
}

// Returns the responses sampled since the last call: [names of versions, each followed by NUL; six numbers for each response: index of its version
// among the names, zoom, column, row, number of responses that it represents, 1 if no such tile exists].
napi_value take_tiles(const Call &call) {
  std::string names;
  std::unordered_map<std::string_view, uint32_t> places;
  std::vector<uint32_t> numbers;
  const std::vector<SampledTile> tiles = sampled_tiles.take();
  for (const SampledTile &tile : tiles) {
    const auto [place, is_new] = places.emplace(tile.version->name, places.size());
    if (is_new) names.append(tile.version->name).push_back('\0');
    numbers.insert(numbers.end(), {place->second, tile.z, tile.x, tile.y, tile.weight, tile.is_missing});
  }
  napi_value taken;
  napi_create_array(call.env, &taken);
  napi_set_element(call.env, taken, 0, call.value(std::string_view(names)));
  napi_set_element(call.env, taken, 1, call.value(numbers));
  return taken;
}

template <auto change>
napi_value by_text(const Call &call) {
  (response_table.*change)(call.text(0));
  return nullptr;
}
}  // namespace

void add_response_table(napi_env env, napi_value exports) {
  export_functions(env, exports, {
    {"setCapacity", [](const Call &call) -> napi_value { return response_table.set_capacity(static_cast<size_t>(call.integer(0))), nullptr; }},
    {"putTile", put_tile},
    {"hasTile", [](const Call &call) { return call.value(response_table.has_good_tile(call.text(0), this_moment().monotonic)); }},
    // isWanted(target, bytes): for a tile that a thread, or another process, has loaded
    {"isWanted", [](const Call &call) {
       return call.value(response_table.is_wanted(call.text(0), static_cast<size_t>(call.integer(1)), false));
     }},
    {"takeUse", [](const Call &call) { return call.value(static_cast<double>(response_table.take_use(call.text(0)))); }},
    {"dropTile", by_text<&ResponseTable::drop_tile>},
    {"dropCode", drop_code},
    {"putToken", put_token},
    // dropToken(text, whether it is of a signed URL)
    {"dropToken", [](const Call &call) -> napi_value { return response_table.drop_token(call.text(0), call.truth(1)), nullptr; }},
    {"putUnknown", by_text<&ResponseTable::put_unknown>},
    {"dropUnknown", by_text<&ResponseTable::drop_unknown>},
    {"setRefusal", set_refusal},
    {"clear", [](const Call &) -> napi_value { return response_table.clear(), cold_sets.clear(), document_table.clear(), nullptr; }},
    {"trustTokensUntil", [](const Call &call) -> napi_value { return response_table.trust_tokens_until(call.integer(0)), nullptr; }},
    {"seeTokensEvery", [](const Call &call) -> napi_value { return response_table.see_tokens_every(call.integer(0)), nullptr; }},
    {"counts", counts},
    {"answerTimes", answer_times},
    {"pickEvery", [](const Call &call) -> napi_value { return log_sampling.pick_every(static_cast<uint32_t>(call.integer(0))), nullptr; }},
    {"picked", [](const Call &call) { return call.value(log_sampling.picked()); }},
    {"takeUsage", take_usage},
    {"limitPairs", limit_pairs},
    {"sampleTiles", sample_tiles},
    {"takeTiles", take_tiles},
    {"takeUsedTokens", [](const Call &call) { return call.value(response_table.take_used_tokens()); }},
  });
}
