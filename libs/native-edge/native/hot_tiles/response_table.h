// The response table: tiles in memory with the heads of their answers, the tokens that may read them, and refusals.
//
// JavaScript fills and empties it by synchronous calls, and it alone decides what is in it: what it has dropped is not sent any more
// once the call has returned. A request that the table does not answer goes to the JavaScript handler, so leaving an entry out is
// always correct.
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
#include "usage.h"

// A part of a file, in place of a body in memory.
struct FileRange {
  std::shared_ptr<const Descriptor> file;  // null: the process can open no more
  int64_t offset = 0;
  uint64_t length = 0;
  bool is_shared = false;   // the descriptor is an archive's, which is open anyway
  int64_t modified_ns = 0;  // of the whole file, when `hold` was called
  // So many bytes of it were found in the page cache, and until then (CLOCK_MONOTONIC, in ms) the kernel is not asked again.
  mutable uint64_t in_memory = 0;
  mutable int64_t in_memory_until = 0;

  void hold(std::shared_ptr<const Descriptor> descriptor);
  bool holds_descriptor() const { return file && !is_shared; }
  // Nobody has written to the file since. What it holds now may have another tag, and another length.
  bool is_unchanged() const;
};

// A tile as JavaScript passes it. The texts are copied. What each answer needs comes first: see TileResponse.
struct TileParts {
  std::string_view target;  // the path as it stands in the request line, without a query
  std::string_view head;    // "HTTP/1.1 200 OK" and all fields but Date, which is always the last
  std::string_view body;
  uint32_t code = 0;        // the basemap, as JavaScript numbers them
  bool needs_gzip = false;  // the body is gzip: only for clients that accept it
  UsagePointer usage;       // of its version
  FileRange range;          // of a tile that is sent by reference; `body` is empty then
  int64_t modified = 0;     // whole seconds since 1970; looked at only where there is an etag
  std::string_view etag;    // quotes included; empty: conditional requests are for JavaScript
  std::string_view not_modified;  // the head of a 304
  bool is_file() const { return range.length > 0; }
};

// A tile in one piece of memory. Reference-counted by the table and by what sends it; all on one thread, so the count is a plain number. What
// a look-up and an answer touch of this structure is in two lines of the processor's caches.
class alignas(64) TileResponse {
 public:
  explicit TileResponse(const TileParts &parts);
  TileResponse(const TileResponse &) = delete;
  TileResponse &operator=(const TileResponse &) = delete;

  size_t bytes() const { return parts.target.size() + parts.head.size() + parts.not_modified.size() + parts.etag.size() + parts.body.size() + kOverhead; }

  size_t hash = 0;
  TileResponse *next = nullptr;  // in the same bucket of the table
  int64_t good_until = 0;  // milliseconds of CLOCK_MONOTONIC: then its file must be looked at again. 0: JavaScript sees to that
  uint32_t holders = 0;
  bool used = false;    // since the clock hand last passed; not by being put, so that a rush of new tiles spares those in use
  bool looked = false;  // asked for since JavaScript last asked
  TileParts parts;      // views into `memory_`
  size_t place = 0;     // in ResponseTable::ring_
  bool is_good(int64_t now) const { return !good_until || now < good_until; }

 private:
  std::unique_ptr<char[]> memory_;
  static constexpr size_t kOverhead = 320;  // this structure, its places in bucket and ring, the allocator's share
};

// Holds a tile.
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

// What became of a tile since JavaScript last asked. The values are shared with src/hot-tiles/response-table.ts.
enum class Use { Gone = 0, Unused = 1, Used = 2 };

struct TokenEntry {
  std::string text;
  bool is_signed = false;        // of a signed address: another credential than a token with the same text
  int64_t expires_at = 0;        // milliseconds since 1970; 0: never
  bool all = false;              // may read every basemap
  std::vector<uint64_t> grants;  // else: one bit for each code
  std::string prefix;            // of the paths that it may read; empty: all
  bool used = false;             // since JavaScript last asked
  uint32_t number = 0;           // its place in ResponseTable::entries_
  uint64_t serial = 0;           // of no other entry, before or after
  int64_t seen_at = 0;           // when JavaScript saw a request with it, milliseconds of CLOCK_MONOTONIC
  UsagePointer usage;
  mutable LastPairs pairs;       // that it is counted in
};

// Why a request is refused (401; 404 where there is no such tile, as JSON or as an image; 403). The values are shared with
// src/hot-tiles/response-table.ts.
enum class Refused { NoToken = 0, Malformed = 1, Unknown = 2, NoTile = 3, NoTileImage = 4, NotGranted = 5 };
constexpr size_t kRefusals = 6;

// The credential of a request: no token, one token in an unambiguous form, or anything else, which JavaScript judges. Of a signed address the
// parameters in the order in which they are written, `exp=...&sig=...`, are its token.
struct Credential {
  enum Kind { None, Token, Unclear } kind = Unclear;
  std::string_view token;
  bool may_refuse = true;  // false: JavaScript words the refusal
  bool is_signed = false;  // of a signed address
};

// Milliseconds: since 1970, by which tokens expire, and of CLOCK_MONOTONIC, by which trust ends.
struct Moment {
  int64_t calendar, monotonic;
};

class ResponseTable {
 public:
  // Limit: the bytes that tiles may take; 0 puts the table out of use.
  void set_capacity(size_t bytes);
  bool in_use() const { return capacity_ > 0; }

  // `good_until`: see TileResponse.
  void put_tile(const TileParts &parts, int64_t good_until = 0);
  // Whether a tile that takes so many bytes is worth its place: it was asked for before, and more often than what would have to make room. One that
  // cannot be read again at once is worth any room that is free.
  bool is_wanted(std::string_view target, size_t bytes, bool is_at_hand);
  // The tile's file was looked at again: it may be sent until then, if it is still the one with this entity tag. false: it is not, or not here.
  bool renew(std::string_view target, std::string_view etag, int64_t good_until);
  void drop_tile(std::string_view target);
  bool has_tile(std::string_view target) { return tile_at(target) != nullptr; }
  // And its file need not be looked at again before it is sent. `now`: milliseconds of CLOCK_MONOTONIC.
  bool has_good_tile(std::string_view target, int64_t now);
  Use take_use(std::string_view target);
  void drop_code(uint32_t code);
  // JavaScript bounds the number of tokens, of either kind. Answers the token's number, which is another one's once it is dropped.
  uint32_t put_token(TokenEntry token);
  void drop_token(std::string_view text, bool is_signed);
  // A well-formed token that the store does not know; until dropped.
  void put_unknown(std::string_view text);
  void drop_unknown(std::string_view text);
  // Head and body of a refusal; before it is set, JavaScript refuses. They stay for good, also when the table is cleared.
  void set_refusal(Refused why, const TileParts &answer);
  void clear();
  // Tokens are honoured or known to be unknown until then (milliseconds of CLOCK_MONOTONIC, which cannot be set): JavaScript extends it as
  // long as it receives invalidations.
  void trust_tokens_until(int64_t time) { trusted_until_ = time; }

  // JavaScript is to see a request of each token after so long (milliseconds; 0: never), so that it knows where they come from.
  void see_tokens_every(int64_t time) { see_every_ = time; }

  // What to answer for a path: the tile behind it if the credential may have it now, a refusal, or nothing where JavaScript decides. Refusals
  // come before the question whether there is such a tile, so that they go for whatever has the form of a tile's address.
  struct Found {
    TilePointer answer;
    bool refused = false;
    Parties parties;  // of a tile
    bool is_left = false;  // JavaScript is to see it, whatever there is
  };
  // `now`: the two clocks of this moment.
  Found find(std::string_view target, const Credential &credential, Moment now);

  // The token of the table, if it may have this tile of a basemap now; it then counts as used.
  const TokenEntry *admitted(const Credential &credential, std::string_view target, uint32_t code, Moment now);
  // The token of the table, if it is good now, but not for this tile of a basemap, whatever else is wrong with the address.
  const TokenEntry *ungranted(const Credential &credential, std::string_view target, uint32_t code, Moment now);
  // The entry of the credential, if it is the token with this serial, and good now, whatever it is granted; it then counts as used.
  TokenEntry *holder_of(const Credential &credential, uint64_t serial, Moment now);
  // Of a token that is in the table; 0: it is not.
  uint64_t serial_of(std::string_view token) const;
  // The refusal, counted, if it was set.
  Found refuse(Refused why, const Credential &credential);

  // Whether one more tile may hold a descriptor. If not, one that is not in use any more leaves, as far as a short search finds one.
  bool has_room_for_file();
  // Descriptors are scarce: half of the tiles that hold one leave, by CLOCK.
  void release_files();

  size_t tile_count() const { return ring_.size(); }
  size_t tile_bytes() const { return bytes_; }
  size_t token_count() const { return tokens_.size() + signatures_.size(); }
  // Since the start: tiles that had to make room.
  uint64_t evictions() const { return evictions_; }
  // By their numbers.
  std::vector<uint32_t> take_used_tokens();

 private:
  TileResponse **slot_of(std::string_view target, size_t hash);
  TileResponse *tile_at(std::string_view target);
  std::unordered_map<std::string_view, TokenEntry *> &known_of(bool is_signed) { return is_signed ? signatures_ : tokens_; }
  TokenEntry *entry_of(const Credential &credential);
  bool is_good(const TokenEntry &token, std::string_view target, Moment now) const;
  void note_use(TokenEntry &token);
  bool honours(TokenEntry &token, std::string_view target, uint32_t code, Moment now);
  bool must_be_seen(TokenEntry &token, Moment now);
  void remove(TileResponse *tile);
  void make_room();
  // Lets tiles that hold a descriptor leave, by CLOCK, until `most` are left, or `looks` tiles were looked at.
  void drop_files(size_t most, size_t looks);
  void grow();

  size_t capacity_ = 0, bytes_ = 0, hand_ = 0;
  FrequencySketch frequency_;
  uint64_t evictions_ = 0;
  size_t files_ = 0;  // tiles that hold a descriptor
  int64_t trusted_until_ = 0;
  uint64_t last_serial_ = 0;
  int64_t see_every_ = 0, see_next_at_ = 0;
  // Chains of tiles by their hash; a power of two of them, at least as many as there are tiles. A std::unordered_map of shared pointers
  // has the memory caches miss about twice as often, which is a measurable part of a hit.
  std::vector<TileResponse *> buckets_ = std::vector<TileResponse *>(1024);
  std::vector<TileResponse *> ring_;  // each holds its tile. For eviction by CLOCK: a hand goes round and takes what was not used since it last came by
  // Two maps: a signature counts only in the query of the addresses that it signs, and a token only in its own places. The keys are views into the entries.
  std::unordered_map<std::string_view, TokenEntry *> tokens_, signatures_;
  std::vector<std::unique_ptr<TokenEntry>> entries_;           // by number; null: free, and in free_numbers_
  std::vector<uint32_t> free_numbers_;
  std::vector<uint32_t> used_tokens_;  // since JavaScript last asked; some may have been dropped meanwhile
  std::unordered_set<std::string> unknown_;
  TilePointer refusals_[kRefusals];
};

extern ResponseTable response_table;
