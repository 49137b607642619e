#include <algorithm>
#include <map>

#include "../native/hot_tiles/tile_response.h"
#include "../native/hot_tiles/response_table.h"
#include "check.h"
#include "reading.h"

namespace {
struct ModelTile {
  std::string head, not_modified, etag, body;
  Grid grid = Grid::Mercator;
  uint32_t code = 0;
  bool looked = false;
  int64_t good_until = 0;
  size_t size(const std::string &target) const { return target.size() + head.size() + not_modified.size() + etag.size() + body.size(); }
};
constexpr uint32_t kEverywhere = UINT32_MAX;

struct ModelToken {
  int64_t expires_at = 0;
  uint32_t all = 0;
  bool used = false;
  std::vector<uint32_t> codes;
  std::string prefix;
  uint32_t columns = kEverywhere;  // number of columns of zoom 9 in Web Mercator that it may read
};

// A text, and whether it is of a signed URL: a token with the same text is a different credential.
using Known = std::pair<std::string, bool>;

// Below the table's limits of tokens, above which it ignores tokens silently.
constexpr size_t kTokens = 40, kMaxCode = 200;

// The table, and a simple model of what JavaScript has put into it. The model cannot know which tiles were evicted: every tile of
// the table must be in the model, and every tile of the model in the table as long as all fit.
class Both {
 public:
  explicit Both(Choices &choices) : choices_(choices) {
    table_.set_capacity(capacity_ = choices.once_in(3) ? 3'000 + choices.below(30'000) : 4'000'000);
    const size_t targets = choices.once_in(20) ? 3'000 : 30;
    for (size_t i = 0; i < targets; i++) targets_.push_back("/tiles/alps/v1/9/" + std::to_string(i) + "/7.png");
    targets_.insert(targets_.end(), {"/tiles/a/1/2/3.png", "/tiles/%61/1/2/3.png", "/odd", ""});
    for (size_t i = 0; i < kTokens; i++) texts_.push_back(with_check("bmp_" + choices.text(32, "0123456789ABCXYZabcxyz")));
    texts_.insert(texts_.end(), {"bmp_x", "", "mistyped token", texts_[0].substr(1)});
  }

  // The process's table is never destroyed.
  ~Both() {
    table_.clear();
    take_usage();
  }
  Both(const Both &) = delete;
  Both &operator=(const Both &) = delete;

  void step() {
    switch (choices_.below(20)) {
      case 0: case 1: case 2: case 3: return put_tile();
      case 4: return choices_.once_in(3) ? renew() : drop_tile();
      case 5: return choices_.once_in(4) ? drop_code() : look_at_use();
      case 6: case 7: return put_token();
      case 8: return drop_token();
      case 9: return put_or_drop_unknown();
      case 10: return choices_.once_in(3) ? set_refusal() : choices_.once_in(2) ? take_counted() : take_used();
      case 11: return choices_.once_in(20) ? clear() : trust();
      case 12: return choices_.once_in(10) ? set_capacity() : pass_time();
      default: return find();
    }
  }

  void check_counts() {
    size_t held = 0, bytes = 0;
    for (const auto &[target, tile] : tiles_) {
      if (!table_.has_tile(target)) continue;
      held++;
      bytes += tile.size(target);
    }
    REQUIRE(table_.tile_count() == held, "tiles: " + std::to_string(table_.tile_count()));
    REQUIRE(table_.tile_bytes() <= capacity_, "bytes: " + std::to_string(table_.tile_bytes()));
    const size_t overhead = table_.tile_bytes() - bytes;
    REQUIRE(held == 0 ? overhead == 0 : overhead % held == 0 && overhead / held < 1'000, "overhead: " + std::to_string(overhead));
    REQUIRE(table_.token_count() == tokens_.size(), "tokens: " + std::to_string(table_.token_count()));
    for (const std::string &target : targets_) REQUIRE(!table_.has_tile(target) || tiles_.count(target), shown(target));
    for (const auto &[answer, body] : sending_) REQUIRE(answer->body == body, "a tile changed while it was sent");
  }

 private:
  void put_tile() {
    const std::string &target = choices_.of(targets_);
    ModelTile tile;
    tile.head = "head " + choices_.text(choices_.below(40));
    tile.not_modified = choices_.text(choices_.below(40));
    tile.etag = choices_.once_in(4) ? "" : "\"" + std::to_string(choices_.below(9)) + "\"";
    tile.body = std::string(choices_.below(choices_.once_in(20) ? 40'000 : 500), static_cast<char>(choices_.next()));
    tile.code = code();
    tile.grid = static_cast<Grid>(choices_.once_in(4) ? choices_.below(3) : 1);
    tile.good_until = choices_.once_in(4) ? uptime() + static_cast<int64_t>(choices_.below(1'000)) : 0;
    const size_t before = table_.tile_count();
    const bool had = table_.has_tile(target);
    const bool fits = table_.tile_bytes() + tile.size(target) + 1'000 <= capacity_;
    const TileParts parts{target, tile.head, tile.body, tile.code, false, usage_of("code " + std::to_string(tile.code)), {}, 0, tile.etag, tile.not_modified, tile.grid};
    table_.put_tile(parts, tile.good_until);
    tiles_[target] = tile;
    if (fits) REQUIRE(table_.has_tile(target) && table_.tile_count() == before + !had, "a tile is missing although there is room");
    if (tile.size(target) > capacity_) REQUIRE(!table_.has_tile(target), "a tile is larger than the table");
    REQUIRE(table_.tile_bytes() <= capacity_, "more than the table may hold");
  }

  void drop_tile() {
    const std::string &target = choices_.of(targets_);
    table_.drop_tile(target);
    tiles_.erase(target);
    REQUIRE(!table_.has_tile(target), shown(target));
  }

  void renew() {
    const std::string &target = choices_.of(targets_);
    const std::string etag = "\"" + std::to_string(choices_.below(9)) + "\"";
    const int64_t until = uptime() + static_cast<int64_t>(choices_.below(1'000));
    const bool has = table_.has_tile(target);
    ModelTile *tile = has ? &tiles_[target] : nullptr;
    const bool same = tile && tile->good_until && tile->etag == etag;
    REQUIRE(table_.renew(target, etag, until) == same, shown(target));
    if (same) tile->good_until = until;
    REQUIRE(table_.has_good_tile(target, uptime()) == (has && is_good(*tile)), shown(target));
  }

  bool is_good(const ModelTile &tile) const { return !tile.good_until || uptime() < tile.good_until; }

  void drop_code() {
    const uint32_t dropped = code();
    table_.drop_code(dropped);
    for (auto it = tiles_.begin(); it != tiles_.end();) {
      if (it->second.code != dropped) ++it;
      else {
        REQUIRE(!table_.has_tile(it->first), shown(it->first));
        it = tiles_.erase(it);
      }
    }
  }

  void look_at_use() {
    const std::string &target = choices_.of(targets_);
    const bool has = table_.has_tile(target);
    const Use use = table_.take_use(target);
    REQUIRE((use == Use::Gone) == !has, shown(target));
    if (!has) return;
    REQUIRE((use == Use::Used) == tiles_[target].looked, shown(target));
    tiles_[target].looked = false;
  }

  void put_token() {
    const Known known = {choices_.of(texts_), choices_.once_in(3)};
    const std::string &text = known.first;
    ModelToken token;
    token.expires_at = choices_.once_in(2) ? 0 : now_ + static_cast<int64_t>(choices_.below(2'000)) - 500;
    token.all = choices_.once_in(4) ? static_cast<uint32_t>(choices_.below(4)) : 0;
    TokenEntry given;
    given.text = text;
    given.is_signed = known.second;
    given.expires_at = token.expires_at;
    given.all = token.all;
    given.usage = usage_of(usage_name(text));
    if (choices_.once_in(3)) token.prefix = choices_.of(targets_).substr(0, choices_.below(24));
    given.prefix = token.prefix;
    if (choices_.once_in(4)) {
      token.columns = static_cast<uint32_t>(choices_.below(30));
      given.area = TokenArea(columns_of_zoom_9(token.columns));
    }
    for (size_t i = choices_.below(5); i > 0; i--) {
      token.codes.push_back(code());
      given.grants.resize(std::max<size_t>(given.grants.size(), token.codes.back() / 64 + 1));
      given.grants[token.codes.back() / 64] |= uint64_t{1} << token.codes.back() % 64;
    }
    numbers_[table_.put_token(std::move(given))] = known;
    tokens_[known] = token;
  }

  // The first columns of zoom 9 in Web Mercator, in their second part, and no tiles besides.
  static std::string columns_of_zoom_9(uint32_t count) {
    std::vector<uint32_t> limits;
    for (int part = 0; part < 2 * 31 * 2; part++) limits.insert(limits.end(), {1, 0, 1, 0});
    const uint32_t wanted[] = {0, count - 1, 0, 511};
    if (count) std::copy(wanted, wanted + 4, limits.begin() + (9 * 2 + 1) * 4);
    return {reinterpret_cast<const char *>(limits.data()), limits.size() * sizeof(uint32_t)};
  }

  void drop_token() {
    const Known known = {choices_.of(texts_), choices_.once_in(3)};
    table_.drop_token(known.first, known.second);
    tokens_.erase(known);
  }

  void put_or_drop_unknown() {
    const std::string &text = choices_.of(texts_);
    const bool put = !choices_.once_in(3);
    if (put) table_.put_unknown(text), unknown_[text] = true;
    else table_.drop_unknown(text), unknown_.erase(text);
  }

  void set_refusal() {
    const size_t why = choices_.below(kRefusals);
    TileParts answer;
    refusals_[why] = "refused " + std::to_string(why);
    answer.head = refusals_[why];
    answer.body = refusals_[why];
    table_.set_refusal(static_cast<Refused>(why), answer);
  }

  void take_used() {
    std::vector<Known> used, expected;
    for (const uint32_t number : table_.take_used_tokens()) used.push_back(numbers_.at(number));
    std::sort(used.begin(), used.end());
    for (auto &[known, token] : tokens_) {
      if (token.used) expected.push_back(known);
      token.used = false;
    }
    REQUIRE(used == expected, "the tokens that were used");
  }

  // Some texts share a name, like the secrets of a token during a rotation, and some are not counted.
  static std::string usage_name(const std::string &text) { return text.empty() ? "" : text.substr(0, 5); }

  // Counts must include entries that were dropped meanwhile.
  void take_counted() {
    std::map<std::string, uint64_t> taken;
    for (const auto &[name, usage] : take_usage()) {
      REQUIRE(taken.emplace(name, usage.requests).second, "taken twice: " + name);
      REQUIRE(usage.bytes == 7 * usage.requests, name);
    }
    REQUIRE(taken == counted_, "what was counted");
    counted_.clear();
  }

  void clear() {
    table_.clear();
    tiles_.clear();
    tokens_.clear();
    unknown_.clear();
  }

  void trust() {
    trusted_until_ = choices_.once_in(6) ? uptime() - 1 : uptime() + static_cast<int64_t>(choices_.below(3'000));
    table_.trust_tokens_until(trusted_until_);
  }

  void pass_time() { now_ += static_cast<int64_t>(choices_.below(300)); }

  void set_capacity() {
    capacity_ = choices_.once_in(5) ? 0 : choices_.below(20'000);
    table_.set_capacity(capacity_);
    if (capacity_ == 0) {
      tiles_.clear();
      tokens_.clear();
      unknown_.clear();
      REQUIRE(!table_.in_use(), "a table without room is in use");
    }
  }

  void find() {
    const std::string target = choices_.of(targets_);
    const Known known = {choices_.of(texts_), choices_.once_in(3)};
    const std::string &text = known.first;
    const auto kind = choices_.once_in(6) ? static_cast<Credential::Kind>(choices_.below(3)) : Credential::Token;
    uint64_t before[kRefusals];
    std::copy(hot_counts.refusals, hot_counts.refusals + kRefusals, before);
    const ResponseTable::Found found = table_.find(target, {kind, text, true, known.second}, {now_, uptime()});
    if (found.answer && !found.refused) return allowed(found, target, known, kind);
    const bool has = table_.has_tile(target);
    if (has && kind == Credential::Token && !text.empty())
      REQUIRE(!may(known, target, tiles_[target]) || !is_good(tiles_[target]), "a tile was withheld");
    if (!found.refused || !found.answer) {
      REQUIRE(std::equal(before, before + kRefusals, hot_counts.refusals), "a refusal was counted and not given");
      return;
    }
    size_t why = 0;
    while (why < kRefusals && hot_counts.refusals[why] == before[why]) why++;
    REQUIRE(why < kRefusals && hot_counts.refusals[why] == before[why] + 1, "a refusal is counted once");
    REQUIRE(found.answer->body == refusals_[why], "the refusal's own words");
    if (why == static_cast<size_t>(Refused::NoToken)) return REQUIRE(kind == Credential::None, "there was a token");
    REQUIRE(kind == Credential::Token && !tokens_.count(known), shown(text));
    if (why == static_cast<size_t>(Refused::Malformed)) REQUIRE(!token_checks_out(text), shown(text));
    else REQUIRE(unknown_.count(text) && uptime() < trusted_until_, shown(text));
  }

  void allowed(const ResponseTable::Found &found, const std::string &target, const Known &known, Credential::Kind kind) {
    const std::string &text = known.first;
    REQUIRE(kind == Credential::Token && may(known, target, tiles_[target]), shown(text + " for " + target));
    ModelTile &tile = tiles_[target];
    REQUIRE(is_good(tile), "a tile whose file must be looked at again: " + shown(target));
    REQUIRE(found.answer->body == tile.body && found.answer->head == tile.head, shown(target));
    REQUIRE(found.answer->etag == tile.etag && found.answer->not_modified == tile.not_modified, shown(target));
    tile.looked = true;
    tokens_[known].used = true;
    found.parties.add({1, 0, 0, 7});
    for (const std::string &name : {usage_name(text), "code " + std::to_string(tile.code)}) {
      if (!name.empty()) counted_[name]++;
    }
    if (choices_.once_in(4)) sending_.emplace_back(found.answer, tile.body);
    if (sending_.size() > 10) sending_.erase(sending_.begin() + static_cast<long>(choices_.below(sending_.size())));
  }

  static bool lies_in(uint32_t columns, const std::string &target, Grid grid) {
    uint32_t column = 0;
    return grid == Grid::Mercator && sscanf(target.c_str(), "/tiles/alps/v1/9/%u/7.png", &column) == 1 && column < columns && column < 512;
  }

  bool may(const Known &known, const std::string &target, const ModelTile &tile) const {
    const auto token = tokens_.find(known);
    if (token == tokens_.end() || uptime() >= trusted_until_) return false;
    const auto &[expires_at, all, used, codes, prefix, columns] = token->second;
    if (target.compare(0, prefix.size(), prefix) != 0) return false;
    if (expires_at && now_ >= expires_at) return false;
    if (columns != kEverywhere && !lies_in(columns, target, tile.grid)) return false;
    return (all >> (tile.code % 2) & 1) || std::find(codes.begin(), codes.end(), tile.code) != codes.end();
  }

  uint32_t code() { return static_cast<uint32_t>(choices_.once_in(4) ? choices_.below(kMaxCode) : choices_.below(4)); }

  Choices &choices_;
  ResponseTable table_;
  size_t capacity_ = 0;
  // The monotonic clock, whose origin differs from that of the calendar.
  int64_t uptime() const { return now_ - kStarted; }

  static constexpr int64_t kStarted = 1'799'999'000'000;
  int64_t now_ = 1'800'000'000'000, trusted_until_ = 0;
  std::vector<std::string> targets_, texts_;
  std::map<std::string, ModelTile> tiles_;
  std::map<Known, ModelToken> tokens_;
  std::map<uint32_t, Known> numbers_;  // current or last token with this number
  std::map<std::string, bool> unknown_;
  std::map<std::string, uint64_t> counted_;
  std::string refusals_[kRefusals];
  std::vector<std::pair<TilePointer, std::string>> sending_;
};
}  // namespace

void check_table(Choices &choices) {
  Both both(choices);
  const size_t steps = choices.once_in(20) ? 6'000 : 300;
  for (size_t i = 0; i < steps && !choices.exhausted(); i++) {
    both.step();
    if (i % 100 == 99) both.check_counts();
  }
  both.check_counts();
}
