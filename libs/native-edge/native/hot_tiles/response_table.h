// The response table: tiles in memory with the heads of their responses, the tokens that may read them, and refusals.
//
// Only JavaScript decides what is in the table. It adds and drops entries by synchronous calls: a dropped entry is not sent any more once the call
// has returned. A request that the table does not answer goes to the JavaScript handler, so leaving an entry out is always correct.
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

#include "descriptor.h"
#include "frequency.h"
#include "token_area.h"
#include "usage.h"

// A range of a file, instead of a body in memory.
struct FileRange {
  std::shared_ptr<const Descriptor> file;  // null: the process may open no more files
  int64_t offset = 0;
  uint64_t length = 0;
  bool is_shared = false;   // the descriptor belongs to an archive, which is open anyway
  int64_t modified_ns = 0;  // time of the file when `hold` was called
  // Number of its bytes that were found in the page cache, and the time (CLOCK_MONOTONIC, in ms) until which the kernel is not asked again.
  mutable uint64_t in_memory = 0;
  mutable int64_t in_memory_until = 0;

  void hold(std::shared_ptr<const Descriptor> descriptor);
  bool holds_descriptor() const { return file && !is_shared; }
  // False if the file was written to since `hold`. Its content may then have another tag and length.
  bool is_unchanged() const;
};

// A tile as JavaScript passes it. The texts are copied. The fields that every response needs come first; see TileResponse.
struct TileParts {
  std::string_view target;  // the path as in the request line, without a query
  std::string_view head;    // "HTTP/1.1 200 OK" and all fields except Date, which is always the last
  std::string_view body;
  uint32_t code = 0;        // number of the basemap or vector in JavaScript; see kind_of
  bool needs_gzip = false;  // the body is gzip, for clients that accept it
  UsagePointer usage;       // of the tile's version
  FileRange range;          // of a tile that is sent by reference, whose `body` is empty
  int64_t modified = 0;     // whole seconds since 1970; used only if there is an etag
  std::string_view etag;    // quotes included; empty: JavaScript decides on conditional requests
  std::string_view not_modified;  // head of a 304
  Grid grid = Grid::Other;        // of the tile's set
  bool is_file() const { return range.length > 0; }
};

// A tile in one piece of memory, reference-counted by the table and by responses being sent. All use is on one thread, so the count is a plain
// number. The parts of this structure that a look-up and a response touch are in two cache lines of the processor.
class alignas(64) TileResponse {
 public:
  explicit TileResponse(const TileParts &parts);
  TileResponse(const TileResponse &) = delete;
  TileResponse &operator=(const TileResponse &) = delete;

  size_t bytes() const { return parts.target.size() + parts.head.size() + parts.not_modified.size() + parts.etag.size() + parts.body.size() + kOverhead; }

  size_t hash = 0;
  TileResponse *next = nullptr;  // next tile in the same bucket of the table
  int64_t good_until = 0;  // ms of CLOCK_MONOTONIC until its file must be checked again; 0: JavaScript checks it
  uint32_t holders = 0;
  bool used = false;    // since the clock hand last passed. Not set by a put, so that a rush of new tiles spares tiles in use
  bool looked = false;  // requested since JavaScript last asked
  TileParts parts;      // views into `memory_`
  size_t place = 0;     // index in ResponseTable::ring_
  bool is_good(int64_t now) const { return !good_until || now < good_until; }

 private:
  std::unique_ptr<char[]> memory_;
  static constexpr size_t kOverhead = 320;  // bytes of this structure, its slots in bucket and ring, and the allocator's overhead
};

// A counted reference to a tile.
class TilePointer {
 public:
  TilePointer() = default;
  explicit TilePointer(TileResponse *tile) : tile_(tile) {
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
  const TileParts &parts() const { return tile_->parts; }

 private:
  TileResponse *tile_ = nullptr;
};

// State of a tile since JavaScript last asked. The values are shared with src/hot-tiles/response-table.ts.
enum class Use { Gone = 0, Unused = 1, Used = 2 };

// Kind of the resource that a number in JavaScript means: 0 for a basemap, 1 for a vector. Each kind has its own grants.
constexpr uint32_t kind_of(uint32_t code) { return code & 1; }

struct TokenEntry {
  std::string text;
  bool is_signed = false;        // of a signed URL, which differs from a token with the same text
  int64_t expires_at = 0;        // milliseconds since 1970; 0: never
  uint32_t all = 0;              // one bit for each kind of which it may read every resource
  std::vector<uint64_t> grants;  // of other kinds: one bit for each code
  std::string prefix;            // prefix of the paths that it may read; empty: all
  TokenArea area;
  bool used = false;             // since JavaScript last asked
  uint32_t number = 0;           // index in ResponseTable::entries_
  uint64_t serial = 0;           // unique among all entries ever put
  int64_t seen_at = 0;           // when JavaScript last saw a request with it, ms of CLOCK_MONOTONIC
  UsagePointer usage;
  mutable LastPairs pairs;       // pairs in which its requests are counted
};

// Reason of a refusal (401; 404 if no such tile exists, as JSON or as an image; 403). The values are shared with src/hot-tiles/response-table.ts.
enum class Refused { NoToken = 0, Malformed = 1, Unknown = 2, NoTile = 3, NoTileImage = 4, NotGranted = 5 };
constexpr size_t kRefusals = 6;

// The credential of a request: no token, one token in an unambiguous form, or anything else, which JavaScript judges. The token of a signed URL
// is its parameters in the required order, `exp=...&sig=...`.
struct Credential {
  enum Kind { None, Token, Unclear } kind = Unclear;
  std::string_view token;
  bool may_refuse = true;  // false: JavaScript writes the refusal
  bool is_signed = false;  // of a signed URL
};

// The current time in milliseconds: since 1970 for the expiry of tokens, and of CLOCK_MONOTONIC for the end of trust.
struct Moment {
  int64_t calendar, monotonic;
};

class ResponseTable {
 public:
  // Limit: bytes of all tiles; 0 disables the table.
  void set_capacity(size_t bytes);
  bool in_use() const { return capacity_ > 0; }

  // `good_until`: see TileResponse.
  void put_tile(const TileParts &parts, int64_t good_until = 0);
  // True if a tile of this size is worth keeping: it was requested before, and more often than the tile that it would evict. A tile that is not
  // `is_at_hand`, that is, cannot be read again at once, may use any free room.
  bool is_wanted(std::string_view target, size_t bytes, bool is_at_hand);
  // Extends the time until which the tile may be sent after its file was checked. False if the tile is not here or has another entity tag.
  bool renew(std::string_view target, std::string_view etag, int64_t good_until);
  void drop_tile(std::string_view target);
  bool has_tile(std::string_view target) { return tile_at(target) != nullptr; }
  // True if the tile is here and its file need not be checked before it is sent. `now` is in milliseconds of CLOCK_MONOTONIC.
  bool has_good_tile(std::string_view target, int64_t now);
  Use take_use(std::string_view target);
  void drop_code(uint32_t code);
  // Returns the token's number, which is reused after the token is dropped. JavaScript bounds the number of tokens of either kind.
  uint32_t put_token(TokenEntry token);
  void drop_token(std::string_view text, bool is_signed);
  // Puts a well-formed token that the store does not know. It stays until it is dropped.
  void put_unknown(std::string_view text);
  void drop_unknown(std::string_view text);
  // Sets head and body of a refusal, which `clear` keeps. Until it is set, JavaScript refuses.
  void set_refusal(Refused why, const TileParts &answer);
  void clear();
  // Sets the time until which tokens are honoured or considered unknown (milliseconds of CLOCK_MONOTONIC, which cannot be set). JavaScript extends it
  // as long as it receives invalidations.
  void trust_tokens_until(int64_t time) { trusted_until_ = time; }

  // Interval in milliseconds after which a request of each token is left to JavaScript, so that it learns the callers' addresses; 0: never.
  void see_tokens_every(int64_t time) { see_every_ = time; }

  // Result of a look-up: the tile of the path if the credential may read it now, a refusal, or nothing if JavaScript decides. Refusals do not depend
  // on whether the tile exists, so they apply to every path in the form of a tile's address.
  struct Found {
    TilePointer answer;
    bool refused = false;
    Parties parties;  // of a tile's request
    bool is_left = false;  // must be left to JavaScript, even if the table could answer it
  };
  // `now`: the two clocks of this moment.
  Found find(std::string_view target, const Credential &credential, Moment now);

  // Returns the token of the table if it may read this tile of a basemap now, whose set has this grid, and marks it as used.
  const TokenEntry *admitted(const Credential &credential, std::string_view target, uint32_t code, Grid grid, Moment now);
  // Returns the token of the table if it is good now but not granted this tile of a basemap, regardless of other errors in the address.
  const TokenEntry *ungranted(const Credential &credential, std::string_view target, uint32_t code, Moment now);
  // Returns the credential's entry if it has this serial and is good now, regardless of its grants, and marks it as used.
  TokenEntry *holder_of(const Credential &credential, uint64_t serial, Moment now);
  // Returns the serial of a token in the table; 0 if the token is not in the table.
  uint64_t serial_of(std::string_view token) const;
  // Returns the refusal and counts it; empty if it was not set.
  Found refuse(Refused why, const Credential &credential);

  // True if one more tile may hold a descriptor. At the limit, evicts a tile that is no longer in use, if a short search finds one.
  bool has_room_for_file();
  // Evicts half of the tiles that hold a descriptor, by CLOCK, because descriptors are scarce.
  void release_files();

  size_t tile_count() const { return ring_.size(); }
  size_t tile_bytes() const { return bytes_; }
  size_t token_count() const { return tokens_.size() + signatures_.size(); }
  // Number of evicted tiles since the start.
  uint64_t evictions() const { return evictions_; }
  // Returns the numbers of the tokens.
  std::vector<uint32_t> take_used_tokens();

 private:
  TileResponse **slot_of(std::string_view target, size_t hash);
  TileResponse *tile_at(std::string_view target);
  std::unordered_map<std::string_view, TokenEntry *> &known_of(bool is_signed) { return is_signed ? signatures_ : tokens_; }
  TokenEntry *entry_of(const Credential &credential);
  bool is_good(const TokenEntry &token, std::string_view target, Moment now) const;
  void note_use(TokenEntry &token);
  bool honours(TokenEntry &token, std::string_view target, uint32_t code, Grid grid, Moment now);
  bool must_be_seen(TokenEntry &token, Moment now);
  void remove(TileResponse *tile);
  void make_room();
  // Evicts tiles that hold a descriptor, by CLOCK, until `most` are left or `looks` tiles were examined.
  void drop_files(size_t most, size_t looks);
  void grow();

  size_t capacity_ = 0, bytes_ = 0, hand_ = 0;
  FrequencySketch frequency_;
  uint64_t evictions_ = 0;
  size_t files_ = 0;  // tiles that hold a descriptor
  int64_t trusted_until_ = 0;
  uint64_t last_serial_ = 0;
  int64_t see_every_ = 0, see_next_at_ = 0;
  // Chains of tiles by their hash. The number of buckets is a power of two, and at least the number of tiles. A std::unordered_map of shared pointers
  // misses the memory caches about twice as often, which is a measurable part of a hit.
  std::vector<TileResponse *> buckets_ = std::vector<TileResponse *>(1024);
  std::vector<TileResponse *> ring_;  // for eviction by CLOCK: a hand goes round and evicts tiles that were not used since it last passed
  // Two maps, because a signature is accepted only in the query of the addresses that it signs, and a token only in its own places. The keys are
  // views into the entries.
  std::unordered_map<std::string_view, TokenEntry *> tokens_, signatures_;
  std::vector<std::unique_ptr<TokenEntry>> entries_;           // by number; null: free, and in free_numbers_
  std::vector<uint32_t> free_numbers_;
  std::vector<uint32_t> used_tokens_;  // since JavaScript last asked; some may have been dropped meanwhile
  std::unordered_set<std::string> unknown_;
  TilePointer refusals_[kRefusals];
};

extern ResponseTable response_table;
