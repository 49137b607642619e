#include "hot_table.h"

HotTable hot_table;

namespace {
// Limit: the tokens that are kept; JavaScript puts those that it sees in use.
constexpr size_t kMaxTokens = 10'000;

bool may_read(const HotToken &token, uint32_t code) {
  const size_t word = code / 64;
  return token.all || (word < token.grants.size() && (token.grants[word] >> (code % 64) & 1));
}
}  // namespace

void HotTable::set_capacity(size_t bytes) {
  capacity_ = bytes;
  make_room();
  if (!in_use()) clear();
}

void HotTable::remove(const HotTile &tile) {
  bytes_ -= tile.bytes();
  HotTile *last = ring_.back();
  ring_[tile.place] = last;
  last->place = tile.place;
  ring_.pop_back();
  tiles_.erase(tile.target);
}

void HotTable::make_room() {
  while (bytes_ > capacity_ && !ring_.empty()) {
    if (hand_ >= ring_.size()) hand_ = 0;
    HotTile *tile = ring_[hand_];
    if (tile->used) {
      tile->used = false;
      hand_++;
    } else {
      remove(*tile);
    }
  }
}

void HotTable::put_tile(HotTile tile) {
  drop_tile(tile.target);
  if (tile.bytes() > capacity_) return;
  auto entry = std::make_shared<HotTile>(std::move(tile));
  entry->place = ring_.size();
  bytes_ += entry->bytes();
  ring_.push_back(entry.get());
  tiles_.emplace(entry->target, entry);
  make_room();
}

void HotTable::drop_tile(std::string_view target) {
  const auto found = tiles_.find(target);
  if (found == tiles_.end()) return;
  const std::shared_ptr<HotTile> tile = found->second;  // its key is a view into it
  remove(*tile);
}

void HotTable::drop_code(uint32_t code) {
  for (size_t i = 0; i < ring_.size();) {
    if (ring_[i]->code != code) i++;
    else drop_tile(ring_[i]->target);  // another tile takes the place
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

void HotTable::clear() {
  tiles_.clear();
  ring_.clear();
  tokens_.clear();
  bytes_ = 0;
}

std::shared_ptr<const HotTile> HotTable::find(std::string_view target, std::string_view token_text, int64_t now) {
  if (now >= trusted_until_) return nullptr;
  const auto tile = tiles_.find(target);
  if (tile == tiles_.end()) return nullptr;
  const auto token = tokens_.find(token_text);
  if (token == tokens_.end()) return nullptr;
  HotToken &holder = *token->second;
  if ((holder.expires_at && now >= holder.expires_at) || !may_read(holder, tile->second->code)) return nullptr;
  holder.used = true;
  tile->second->used = true;
  return tile->second;
}

std::vector<std::string> HotTable::take_used_tokens() {
  std::vector<std::string> used;
  for (auto &[text, token] : tokens_) {
    if (token->used) used.emplace_back(text);
    token->used = false;
  }
  return used;
}
