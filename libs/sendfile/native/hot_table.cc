#include "hot_table.h"

#include <functional>

#include "hot_answer.h"
#include "token_form.h"

HotTable hot_table;

namespace {
// Limits: the tokens that are kept; JavaScript puts those that it sees in use.
constexpr size_t kMaxTokens = 10'000, kMaxUnknown = 20'000;

bool may_read(const HotToken &token, uint32_t code) {
  const size_t word = code / 64;
  return token.all || (word < token.grants.size() && (token.grants[word] >> (code % 64) & 1));
}

// Whether the path has the form of a tile's address and holds nothing encoded: "/tiles/", and four or five parts of at least one byte. Longer
// ones than anybody needs are left to JavaScript.
bool is_tile_address(std::string_view path) {
  constexpr std::string_view prefix = "/tiles/";
  constexpr size_t longest = 512;
  if (path.size() > longest || path.substr(0, prefix.size()) != prefix) return false;
  int parts = 1;
  for (size_t i = prefix.size(); i < path.size(); i++) {
    if (path[i] == '%') return false;
    if (path[i] != '/') continue;
    if (path[i - 1] == '/') return false;
    parts++;
  }
  return (parts == 4 || parts == 5) && path.back() != '/';
}

size_t hash_of(std::string_view text) { return std::hash<std::string_view>()(text); }

void release(HotTile *tile) {
  if (--tile->holders == 0) delete tile;
}
}  // namespace

HotTile::HotTile(const TileParts &given)
    : parts(given),
      memory_(new char[given.target.size() + given.head.size() + given.not_modified.size() + given.etag.size() + given.body.size()]) {
  char *end = memory_.get();
  for (std::string_view *part : {&parts.target, &parts.head, &parts.body, &parts.etag, &parts.not_modified}) {
    const size_t size = part->copy(end, part->size());
    *part = {end, size};
    end += size;
  }
}

void HotTable::set_capacity(size_t bytes) {
  capacity_ = bytes;
  make_room();
  if (!in_use()) clear();
}

// The place of the pointer to the tile with this target, or of the null pointer at the end of its chain.
HotTile **HotTable::slot_of(std::string_view target, size_t hash) {
  HotTile **slot = &buckets_[hash & (buckets_.size() - 1)];
  while (*slot && ((*slot)->hash != hash || (*slot)->parts.target != target)) slot = &(*slot)->next;
  return slot;
}

HotTile *HotTable::tile_at(std::string_view target) { return *slot_of(target, hash_of(target)); }

void HotTable::remove(HotTile *tile) {
  bytes_ -= tile->bytes();
  *slot_of(tile->parts.target, tile->hash) = tile->next;
  HotTile *last = ring_.back();
  ring_[tile->place] = last;
  last->place = tile->place;
  ring_.pop_back();
  release(tile);
}

void HotTable::make_room() {
  while (bytes_ > capacity_ && !ring_.empty()) {
    if (hand_ >= ring_.size()) hand_ = 0;
    // Onwards in either case: the place of a tile that goes is taken by the newest one, which has not had the time to be used.
    HotTile *tile = ring_[hand_++];
    if (tile->used) tile->used = false;
    else remove(tile);
  }
}

void HotTable::grow() {
  buckets_.assign(buckets_.size() * 2, nullptr);
  for (HotTile *tile : ring_) {
    HotTile *&first = buckets_[tile->hash & (buckets_.size() - 1)];
    tile->next = first;
    first = tile;
  }
}

void HotTable::put_tile(const TileParts &parts) {
  drop_tile(parts.target);
  auto *tile = new HotTile(parts);
  tile->hash = hash_of(parts.target);
  tile->holders = 1;
  if (tile->bytes() > capacity_) return release(tile);
  if (ring_.size() >= buckets_.size()) grow();
  *slot_of(parts.target, tile->hash) = tile;
  tile->place = ring_.size();
  ring_.push_back(tile);
  bytes_ += tile->bytes();
  make_room();
}

void HotTable::drop_tile(std::string_view target) {
  if (HotTile *tile = tile_at(target)) remove(tile);
}

Use HotTable::take_use(std::string_view target) {
  HotTile *tile = tile_at(target);
  if (!tile) return Use::Gone;
  return std::exchange(tile->looked, false) ? Use::Used : Use::Unused;
}

void HotTable::drop_code(uint32_t code) {
  for (size_t i = 0; i < ring_.size();) {
    if (ring_[i]->parts.code != code) i++;
    else remove(ring_[i]);  // another tile takes the place
  }
}

void HotTable::put_token(HotToken token) {
  drop_token(token.text);
  if (tokens_.size() >= kMaxTokens) tokens_.erase(tokens_.begin());
  auto entry = std::make_unique<HotToken>(std::move(token));
  const std::string_view key = entry->text;
  tokens_.emplace(key, std::move(entry));
}

void HotTable::drop_token(std::string_view text) {
  const auto found = tokens_.find(text);
  if (found == tokens_.end()) return;
  const std::unique_ptr<HotToken> token = std::move(found->second);
  tokens_.erase(found);
}

void HotTable::put_unknown(std::string_view text) {
  if (unknown_.size() >= kMaxUnknown) unknown_.erase(unknown_.begin());
  unknown_.emplace(text);
}

void HotTable::drop_unknown(std::string_view text) { unknown_.erase(std::string(text)); }

void HotTable::set_refusal(Refused why, const TileParts &answer) {
  refusals_[static_cast<size_t>(why)] = TilePointer(new HotTile(answer));
}

void HotTable::clear() {
  while (!ring_.empty()) remove(ring_.back());
  tokens_.clear();
  unknown_.clear();
}

HotTable::Found HotTable::refuse(Refused why) {
  const TilePointer &answer = refusals_[static_cast<size_t>(why)];
  if (answer) hot_counts.refusals[static_cast<size_t>(why)]++;
  return {answer, true};
}

HotTable::Found HotTable::find(std::string_view target, const Credential &credential, int64_t now) {
  if (credential.kind == Credential::Unclear) return {};
  HotTile *tile = tile_at(target);
  if (!tile && !is_tile_address(target)) return {};
  if (credential.kind == Credential::None) return refuse(Refused::NoToken);
  const auto token = tokens_.find(credential.token);
  if (token == tokens_.end()) {
    if (!is_plain_text(credential.token)) return {};
    if (!is_well_formed_token(credential.token)) return refuse(Refused::Malformed);
    const bool is_unknown = now < trusted_until_ && unknown_.count(std::string(credential.token));
    return is_unknown ? refuse(Refused::Unknown) : Found();
  }
  if (!tile) return {};
  HotToken &holder = *token->second;
  if (now >= trusted_until_ || (holder.expires_at && now >= holder.expires_at) || !may_read(holder, tile->parts.code)) return {};
  holder.used = true;
  tile->used = tile->looked = true;
  return {TilePointer(tile)};
}

std::vector<std::string> HotTable::take_used_tokens() {
  std::vector<std::string> used;
  for (auto &[text, token] : tokens_) {
    if (token->used) used.emplace_back(text);
    token->used = false;
  }
  return used;
}
