#include "response_table.h"

#include <sys/stat.h>

#include <functional>

#include "tile_response.h"
#include "token_form.h"

ResponseTable response_table;

namespace {
bool may_read(const TokenEntry &token, uint32_t code) {
  const size_t word = code / 64;
  return (token.all >> kind_of(code) & 1) || (word < token.grants.size() && (token.grants[word] >> (code % 64) & 1));
}

// Number of the parts of at least one byte that follow a prefix of the path, which ends with a slash; 0 if the path has another prefix, contains
// something encoded, or is longer than the paths that JavaScript caches.
int parts_after(std::string_view prefix, std::string_view path) {
  constexpr size_t longest = 512;
  if (path.size() > longest || path.substr(0, prefix.size()) != prefix || path.back() == '/') return 0;
  int parts = 1;
  for (size_t i = prefix.size(); i < path.size(); i++) {
    if (path[i] == '%') return 0;
    if (path[i] != '/') continue;
    if (path[i - 1] == '/') return 0;
    parts++;
  }
  return parts;
}

// True if the path has the form of the address of a basemap's tile.
bool is_tile_address(std::string_view path) {
  const int parts = parts_after("/tiles/", path);
  return parts == 4 || parts == 5;
}

// True if the path has the form "/vectors/{code}/tiles/{z}/{x}/{y}.{ext}".
bool is_vector_tile_address(std::string_view path) {
  constexpr std::string_view prefix = "/vectors/", middle = "/tiles/";
  if (parts_after(prefix, path) != 5) return false;
  return path.substr(path.find('/', prefix.size()), middle.size()) == middle;
}

// Typical bytes of a tile, by which the frequency sketch is sized.
constexpr size_t kUsualBytes = 8 * 1024;
// Minimum number of recent requests for a tile: copying a tile that was requested only once would be wasted.
constexpr unsigned kLeastFrequency = 2;
// Limit: tiles in use that are skipped in search of one to compare with; the next search continues from there.
constexpr int kLookedAt = 8;

// Minimum interval in ms between two requests that are left to JavaScript to learn about their tokens. Its response costs some 50 us more.
constexpr int64_t kSeenApart = 20;

size_t hash_of(std::string_view text) { return std::hash<std::string_view>()(text); }

void release(TileResponse *tile) {
  if (--tile->holders == 0) delete tile;
}
}  // namespace

TileResponse::TileResponse(const TileParts &given)
    : parts(given),
      memory_(new char[given.target.size() + given.head.size() + given.not_modified.size() + given.etag.size() + given.body.size()]) {
  char *end = memory_.get();
  for (std::string_view *part : {&parts.target, &parts.head, &parts.body, &parts.etag, &parts.not_modified}) {
    const size_t size = part->copy(end, part->size());
    *part = {end, size};
    end += size;
  }
}

namespace {
int64_t modified_ns(const Descriptor &file) {
  struct stat stat;
  return fstat(file.fd, &stat) ? -1 : stat.st_mtim.tv_sec * int64_t{1'000'000'000} + stat.st_mtim.tv_nsec;
}
}  // namespace

void FileRange::hold(std::shared_ptr<const Descriptor> descriptor) {
  file = std::move(descriptor);
  if (holds_descriptor()) modified_ns = ::modified_ns(*file);
}

bool FileRange::is_unchanged() const { return is_shared || ::modified_ns(*file) == modified_ns; }

void ResponseTable::set_capacity(size_t bytes) {
  capacity_ = bytes;
  frequency_.resize(bytes / kUsualBytes);
  make_room();
  if (!in_use()) clear();
}

// Returns the slot of the pointer to the tile with this target, or of the null pointer at the end of its chain.
TileResponse **ResponseTable::slot_of(std::string_view target, size_t hash) {
  TileResponse **slot = &buckets_[hash & (buckets_.size() - 1)];
  while (*slot && ((*slot)->hash != hash || (*slot)->parts.target != target)) slot = &(*slot)->next;
  return slot;
}

TileResponse *ResponseTable::tile_at(std::string_view target) { return *slot_of(target, hash_of(target)); }

void ResponseTable::remove(TileResponse *tile) {
  bytes_ -= tile->bytes();
  if (tile->parts.range.holds_descriptor()) files_--;
  *slot_of(tile->parts.target, tile->hash) = tile->next;
  TileResponse *last = ring_.back();
  ring_[tile->place] = last;
  last->place = tile->place;
  ring_.pop_back();
  release(tile);
}

void ResponseTable::make_room() {
  while (bytes_ > capacity_ && !ring_.empty()) {
    if (hand_ >= ring_.size()) hand_ = 0;
    // The hand advances in either case: the newest tile takes the place of a removed one, and has had no time to be used.
    TileResponse *tile = ring_[hand_++];
    if (tile->used) {
      tile->used = false;
      continue;
    }
    remove(tile);
    evictions_++;
  }
}

void ResponseTable::drop_files(size_t most, size_t looks) {
  for (; files_ > most && looks > 0; looks--) {
    if (hand_ >= ring_.size()) hand_ = 0;
    TileResponse *tile = ring_[hand_++];
    if (!tile->parts.range.holds_descriptor() || std::exchange(tile->used, false)) continue;
    remove(tile);
    evictions_++;
  }
}

// Two rounds, because the first may only clear marks of use.
void ResponseTable::release_files() { drop_files(files_ / 2, 2 * ring_.size()); }

bool ResponseTable::has_room_for_file() {
  const size_t most = Descriptor::most_for_tiles();
  if (files_ >= most) drop_files(most - 1, kLookedAt * kLookedAt);
  return files_ < most;
}

void ResponseTable::grow() {
  buckets_.assign(buckets_.size() * 2, nullptr);
  for (TileResponse *tile : ring_) {
    TileResponse *&first = buckets_[tile->hash & (buckets_.size() - 1)];
    tile->next = first;
    first = tile;
  }
}

bool ResponseTable::is_wanted(std::string_view target, size_t bytes, bool is_at_hand) {
  const size_t hash = hash_of(target);
  const unsigned frequency = frequency_.estimate(hash);
  const bool is_free = bytes_ + bytes <= capacity_;
  if (bytes > capacity_) return false;
  if (is_free && !is_at_hand) return true;
  if (frequency < kLeastFrequency) return false;
  if (is_free || ring_.empty()) return true;
  for (int looked_at = 1;; looked_at++) {
    if (hand_ >= ring_.size()) hand_ = 0;
    TileResponse *other = ring_[hand_];
    const bool is_in_use = std::exchange(other->used, false);
    if (!is_in_use || looked_at == kLookedAt) {
      // The hand stays at this tile, so it is the first to be evicted.
      if (frequency_.estimate(other->hash) < frequency) return true;
      hand_++;
      return false;
    }
    hand_++;
  }
}

bool ResponseTable::renew(std::string_view target, std::string_view etag, int64_t good_until) {
  TileResponse *tile = tile_at(target);
  if (!tile || !tile->good_until || tile->parts.etag != etag) return false;
  tile->good_until = good_until;
  return true;
}

void ResponseTable::put_tile(const TileParts &parts, int64_t good_until) {
  drop_tile(parts.target);
  if (parts.range.holds_descriptor() && !has_room_for_file()) return;
  auto *tile = new TileResponse(parts);
  tile->hash = hash_of(parts.target);
  tile->holders = 1;
  tile->good_until = good_until;
  const bool out_of_descriptors = parts.is_file() && !parts.range.file;
  if (tile->bytes() > capacity_ || out_of_descriptors) return release(tile);
  if (ring_.size() >= buckets_.size()) grow();
  *slot_of(parts.target, tile->hash) = tile;
  tile->place = ring_.size();
  ring_.push_back(tile);
  bytes_ += tile->bytes();
  if (parts.range.holds_descriptor()) files_++;
  make_room();
}

void ResponseTable::drop_tile(std::string_view target) {
  if (TileResponse *tile = tile_at(target)) remove(tile);
}

bool ResponseTable::has_good_tile(std::string_view target, int64_t now) {
  const TileResponse *tile = tile_at(target);
  return tile && tile->is_good(now);
}

Use ResponseTable::take_use(std::string_view target) {
  TileResponse *tile = tile_at(target);
  if (!tile) return Use::Gone;
  return std::exchange(tile->looked, false) ? Use::Used : Use::Unused;
}

void ResponseTable::drop_code(uint32_t code) {
  for (size_t i = 0; i < ring_.size();) {
    if (ring_[i]->parts.code != code) i++;
    else remove(ring_[i]);  // another tile takes its place
  }
}

uint32_t ResponseTable::put_token(TokenEntry token) {
  drop_token(token.text, token.is_signed);
  if (free_numbers_.empty()) {
    free_numbers_.push_back(static_cast<uint32_t>(entries_.size()));
    entries_.emplace_back();
  }
  token.number = free_numbers_.back();
  token.serial = ++last_serial_;
  free_numbers_.pop_back();
  std::unique_ptr<TokenEntry> &entry = entries_[token.number];
  entry = std::make_unique<TokenEntry>(std::move(token));
  known_of(entry->is_signed).emplace(entry->text, entry.get());
  return entry->number;
}

void ResponseTable::drop_token(std::string_view text, bool is_signed) {
  auto &known = known_of(is_signed);
  const auto found = known.find(text);
  if (found == known.end()) return;
  const uint32_t number = found->second->number;
  known.erase(found);
  entries_[number].reset();
  free_numbers_.push_back(number);
}

TokenEntry *ResponseTable::entry_of(const Credential &credential) {
  auto &known = known_of(credential.is_signed);
  const auto found = known.find(credential.token);
  return found == known.end() ? nullptr : found->second;
}

void ResponseTable::put_unknown(std::string_view text) { unknown_.emplace(text); }

void ResponseTable::drop_unknown(std::string_view text) { unknown_.erase(std::string(text)); }

void ResponseTable::set_refusal(Refused why, const TileParts &answer) {
  refusals_[static_cast<size_t>(why)] = TilePointer(new TileResponse(answer));
}

void ResponseTable::clear() {
  while (!ring_.empty()) remove(ring_.back());
  tokens_.clear();
  signatures_.clear();
  entries_.clear();
  free_numbers_.clear();
  used_tokens_.clear();
  unknown_.clear();
}

ResponseTable::Found ResponseTable::refuse(Refused why, const Credential &credential) {
  if (!credential.may_refuse) return {};
  const TilePointer &answer = refusals_[static_cast<size_t>(why)];
  if (answer) hot_counts.refusals[static_cast<size_t>(why)]++;
  return {answer, true};
}

ResponseTable::Found ResponseTable::find(std::string_view target, const Credential &credential, Moment now) {
  if (credential.kind == Credential::Unclear) return {};
  const size_t hash = hash_of(target);
  TileResponse *tile = *slot_of(target, hash);
  if (tile && !tile->is_good(now.monotonic)) tile = nullptr;
  if (!tile && !is_tile_address(target) && !is_vector_tile_address(target)) return {};
  if (credential.kind == Credential::None) return refuse(Refused::NoToken, credential);
  TokenEntry *token = entry_of(credential);
  if (!token) {
    if (!is_plain_text(credential.token)) return {};
    if (!is_well_formed_token(credential.token)) return refuse(Refused::Malformed, credential);
    const bool is_unknown = now.monotonic < trusted_until_ && unknown_.count(std::string(credential.token));
    return is_unknown ? refuse(Refused::Unknown, credential) : Found();
  }
  frequency_.add(hash);
  if (!tile || !honours(*token, target, tile->parts.code, tile->parts.grid, now)) return {};
  if (must_be_seen(*token, now)) return {{}, false, {}, true};
  tile->used = tile->looked = true;
  return {TilePointer(tile), false, Parties(token->usage, tile->parts.usage, token->pairs)};
}

bool ResponseTable::is_good(const TokenEntry &token, std::string_view target, Moment now) const {
  if (target.substr(0, token.prefix.size()) != token.prefix) return false;
  return now.monotonic < trusted_until_ && !(token.expires_at && now.calendar >= token.expires_at);
}

bool ResponseTable::honours(TokenEntry &token, std::string_view target, uint32_t code, Grid grid, Moment now) {
  if (!is_good(token, target, now) || !may_read(token, code) || !token.area.has(target, grid)) return false;
  note_use(token);
  return true;
}

void ResponseTable::note_use(TokenEntry &token) {
  if (!std::exchange(token.used, true)) used_tokens_.push_back(token.number);
}

TokenEntry *ResponseTable::holder_of(const Credential &credential, uint64_t serial, Moment now) {
  if (credential.kind != Credential::Token || credential.is_signed) return nullptr;
  TokenEntry *token = entry_of(credential);
  if (!token || token->serial != serial || !is_good(*token, {}, now) || must_be_seen(*token, now)) return nullptr;
  note_use(*token);
  return token;
}

uint64_t ResponseTable::serial_of(std::string_view token) const {
  const auto found = tokens_.find(token);
  return found == tokens_.end() ? 0 : found->second->serial;
}

const TokenEntry *ResponseTable::admitted(const Credential &credential, std::string_view target, uint32_t code, Grid grid, Moment now) {
  if (credential.kind != Credential::Token) return nullptr;
  TokenEntry *token = entry_of(credential);
  const bool is_admitted = token && honours(*token, target, code, grid, now) && !must_be_seen(*token, now);
  return is_admitted ? token : nullptr;
}

bool ResponseTable::must_be_seen(TokenEntry &token, Moment now) {
  if (!see_every_ || now.monotonic < token.seen_at + see_every_ || now.monotonic < see_next_at_ || !token.usage || token.is_signed) return false;
  token.seen_at = now.monotonic;
  see_next_at_ = now.monotonic + kSeenApart;
  return true;
}

const TokenEntry *ResponseTable::ungranted(const Credential &credential, std::string_view target, uint32_t code, Moment now) {
  if (credential.kind != Credential::Token || !is_tile_address(target)) return nullptr;
  const TokenEntry *token = entry_of(credential);
  return token && is_good(*token, target, now) && !may_read(*token, code) ? token : nullptr;
}

std::vector<uint32_t> ResponseTable::take_used_tokens() {
  std::vector<uint32_t> used;
  for (const uint32_t number : std::exchange(used_tokens_, {})) {
    TokenEntry *token = entries_[number].get();
    if (token && std::exchange(token->used, false)) used.push_back(number);
  }
  return used;
}
