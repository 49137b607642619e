// Tiles that are asked for often, ready to be sent, and the tokens that may have them.
//
// JavaScript fills and empties the table by synchronous calls, and it alone decides what is in it: what it has dropped is not
// answered from here any more once the call has returned. Whatever the table cannot answer goes to the JavaScript handler, so
// leaving something out is always right.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

// What JavaScript says of a tile. The texts are copied.
struct TileParts {
  std::string_view target;        // the path as it stands in the request line, without a query
  std::string_view head;          // "HTTP/1.1 200 OK" and all fields but Date, which is always the last
  std::string_view not_modified;  // the same of a 304
  std::string_view etag;          // quotes included; empty: conditional requests are for JavaScript
  std::string_view body;
  uint32_t code = 0;        // the basemap, as JavaScript numbers them
  bool needs_gzip = false;  // the body is gzip: only for clients that accept it
};

// A tile in one piece of memory, so that a look-up touches few cache lines. It lives as long as the table or somebody that sends it
// holds it; all on one thread, so the count is a plain number.
class HotTile {
 public:
  explicit HotTile(const TileParts &parts);
  HotTile(const HotTile &) = delete;
  HotTile &operator=(const HotTile &) = delete;

  size_t bytes() const { return parts.target.size() + parts.head.size() + parts.not_modified.size() + parts.etag.size() + parts.body.size() + kOverhead; }

  TileParts parts;  // views into `memory_`
  size_t hash = 0;
  HotTile *next = nullptr;  // in the same bucket of the table
  size_t place = 0;         // in HotTable::ring_
  uint32_t holders = 0;
  bool used = false;    // since the clock hand last passed; not by being put, so that a rush of new tiles spares those in use
  bool looked = false;  // asked for since JavaScript last asked

 private:
  std::unique_ptr<char[]> memory_;
  static constexpr size_t kOverhead = 256;  // this structure, its places in bucket and ring, the allocator's share
};

// Holds a tile.
class TilePointer {
 public:
  TilePointer() = default;
  explicit TilePointer(HotTile *tile) : tile_(tile) {
    if (tile_) tile_->holders++;
  }
  TilePointer(TilePointer &&other) noexcept : tile_(other.tile_) { other.tile_ = nullptr; }
  TilePointer &operator=(TilePointer &&other) noexcept {
    std::swap(tile_, other.tile_);
    return *this;
  }
  TilePointer(const TilePointer &other) : TilePointer(other.tile_) {}
  ~TilePointer() {
    if (tile_ && --tile_->holders == 0) delete tile_;
  }
  explicit operator bool() const { return tile_ != nullptr; }
  const TileParts *operator->() const { return &tile_->parts; }

 private:
  HotTile *tile_ = nullptr;
};

// What became of a tile since JavaScript last asked. The values are shared with src/hot-table.ts.
enum class Use { Gone = 0, Unused = 1, Used = 2 };

struct HotToken {
  std::string text;
  int64_t expires_at = 0;        // milliseconds since 1970; 0: never
  bool all = false;              // may read every basemap
  std::vector<uint64_t> grants;  // else: one bit for each code
  bool used = false;             // since JavaScript last asked
};

// Why a request is refused (401). The values are shared with src/hot-table.ts.
enum class Refused { NoToken = 0, Malformed = 1, Unknown = 2 };
constexpr size_t kRefusals = 3;

// What the request carries: at most one token, in a form that leaves no doubt.
struct Credential {
  enum Kind { None, Token, Unclear } kind = Unclear;
  std::string_view token;
};

class HotTable {
 public:
  // Limit: the bytes that tiles may take; 0 puts the table out of use.
  void set_capacity(size_t bytes);
  bool in_use() const { return capacity_ > 0; }

  void put_tile(const TileParts &parts);
  void drop_tile(std::string_view target);
  bool has_tile(std::string_view target) { return tile_at(target) != nullptr; }
  Use take_use(std::string_view target);
  void drop_code(uint32_t code);
  void put_token(HotToken token);
  void drop_token(std::string_view text);
  // A token that is nobody's; until dropped.
  void put_unknown(std::string_view text);
  void drop_unknown(std::string_view text);
  // Head and body of a refusal; before it is set, JavaScript refuses. They stay for good, also when the table is cleared.
  void set_refusal(Refused why, const TileParts &answer);
  void clear();
  // Tokens are honoured or known to be unknown until then (milliseconds since 1970): JavaScript extends it as long as it hears of disabled tokens.
  void trust_tokens_until(int64_t time) { trusted_until_ = time; }

  // What to answer for a path: the tile behind it if the credential may have it now, a refusal, or nothing where JavaScript decides. Refusals
  // come before the question whether there is such a tile, so that they go for whatever has the form of a tile's address.
  struct Found {
    TilePointer answer;
    bool refused = false;
  };
  Found find(std::string_view target, const Credential &credential, int64_t now);

  size_t tile_count() const { return ring_.size(); }
  size_t tile_bytes() const { return bytes_; }
  size_t token_count() const { return tokens_.size(); }
  std::vector<std::string> take_used_tokens();

 private:
  HotTile **slot_of(std::string_view target, size_t hash);
  HotTile *tile_at(std::string_view target);
  Found refuse(Refused why);
  void remove(HotTile *tile);
  void make_room();
  void grow();

  size_t capacity_ = 0, bytes_ = 0, hand_ = 0;
  int64_t trusted_until_ = 0;
  // Chains of tiles by their hash; a power of two of them, at least as many as there are tiles. A std::unordered_map of shared pointers
  // has the memory caches miss about twice as often, which is a measurable part of a hit.
  std::vector<HotTile *> buckets_ = std::vector<HotTile *>(1024);
  std::vector<HotTile *> ring_;  // each holds its tile. For eviction by CLOCK: a hand goes round and takes what was not used since it last came by
  std::unordered_map<std::string_view, std::unique_ptr<HotToken>> tokens_;  // the keys are views into the entries
  std::unordered_set<std::string> unknown_;
  TilePointer refusals_[kRefusals];
};

extern HotTable hot_table;
