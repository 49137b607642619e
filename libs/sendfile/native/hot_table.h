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
#include <vector>

struct HotTile {
  std::string target;  // the path as it stands in the request line, without a query
  std::string head;    // "HTTP/1.1 200 OK" and all fields but Date, which is always the last
  std::string body;
  uint32_t code = 0;           // the basemap, as JavaScript numbers them
  bool needs_gzip = false;     // the body is gzip: only for clients that accept it
  bool used = false;           // since the clock hand last passed; not by being put, so that a rush of new tiles spares those in use
  size_t place = 0;            // in HotTable::ring_

  size_t bytes() const { return target.size() + head.size() + body.size() + kOverhead; }
  static constexpr size_t kOverhead = 256;  // this structure, its entries in map and ring, the allocator's share
};

struct HotToken {
  std::string text;
  int64_t expires_at = 0;        // milliseconds since 1970; 0: never
  bool all = false;              // may read every basemap
  std::vector<uint64_t> grants;  // else: one bit for each code
  bool used = false;             // since JavaScript last asked
};

class HotTable {
 public:
  // Limit: the bytes that tiles may take; 0 puts the table out of use.
  void set_capacity(size_t bytes);
  bool in_use() const { return capacity_ > 0; }

  void put_tile(HotTile tile);
  void drop_tile(std::string_view target);
  void drop_code(uint32_t code);
  void put_token(HotToken token);
  void drop_token(std::string_view text);
  void clear();
  // Tokens are honoured until then (milliseconds since 1970): JavaScript extends it as long as it hears of disabled tokens.
  void trust_tokens_until(int64_t time) { trusted_until_ = time; }

  // The tile behind the path, if the token may have it now. A tile stays alive as long as somebody sends it.
  std::shared_ptr<const HotTile> find(std::string_view target, std::string_view token, int64_t now);

  size_t tile_count() const { return ring_.size(); }
  size_t tile_bytes() const { return bytes_; }
  size_t token_count() const { return tokens_.size(); }
  std::vector<std::string> take_used_tokens();

 private:
  void remove(const HotTile &tile);
  void make_room();

  size_t capacity_ = 0, bytes_ = 0, hand_ = 0;
  int64_t trusted_until_ = 0;
  // The keys are views into the entries.
  std::unordered_map<std::string_view, std::shared_ptr<HotTile>> tiles_;
  std::vector<HotTile *> ring_;  // for eviction by CLOCK: a hand goes round and takes what was not used since it last came by
  std::unordered_map<std::string_view, std::unique_ptr<HotToken>> tokens_;
};

extern HotTable hot_table;
