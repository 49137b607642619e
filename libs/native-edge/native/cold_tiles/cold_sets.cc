#include "cold_sets.h"

NativeTilesets cold_sets;

bool ColdSet::has_extension(std::string_view name) const {
  const size_t at = extensions.find(name);
  return at != extensions.npos && at > 0 && extensions[at - 1] == ' ' && extensions[at + name.size()] == ' ';
}

void NativeTilesets::put(std::unique_ptr<ColdSet> set) {
  const auto known = sets_.find(set->address);
  if (known != sets_.end()) {
    const std::unique_ptr<ColdSet> before = std::move(known->second);  // the key is a view into this set
    sets_.erase(known);
  }
  const std::string_view key = set->address;
  sets_.emplace(key, std::move(set));
}

ColdSet *NativeTilesets::at(std::string_view address) const {
  const auto found = sets_.find(address);
  return found == sets_.end() ? nullptr : found->second.get();
}

void NativeTilesets::drop_code(uint32_t code) {
  for (auto at = sets_.begin(); at != sets_.end();) {
    if (at->second->code != code) {
      ++at;
      continue;
    }
    const std::unique_ptr<ColdSet> dropped = std::move(at->second);
    at = sets_.erase(at);
  }
  drop_unused();
}

void NativeTilesets::clear() {
  sets_.clear();
  archives_.clear();
  bundles_.clear();
  databases_.clear();
}

const ColdSet *NativeTilesets::find(std::string_view target, int64_t now, std::string_view *place) const {
  constexpr std::string_view tiles = "/tiles/", vectors = "/vectors/";
  // The address of a vector's set begins with "vectors/", and has more parts than that of a basemap's.
  const size_t begin = target.substr(0, tiles.size()) == tiles ? tiles.size() : 1;
  if (sets_.empty() || (begin == 1 && target.substr(0, vectors.size()) != vectors)) return nullptr;
  size_t slash = target.size();
  for (int parts = 0; parts < 3; parts++) {
    slash = target.rfind('/', slash - 1);
    if (slash == target.npos || slash <= begin) return nullptr;
  }
  const auto found = sets_.find(target.substr(begin, slash - begin));
  if (found == sets_.end() || now >= found->second->good_until) return nullptr;
  *place = target.substr(slash + 1);
  return found->second.get();
}

namespace {
template <typename Value>
std::shared_ptr<Value> known(const std::unordered_map<int64_t, std::shared_ptr<Value>> &values, int64_t id) {
  const auto found = values.find(id);
  return found == values.end() ? nullptr : found->second;
}

template <typename Value>
void erase_unused(std::unordered_map<int64_t, std::shared_ptr<Value>> &values) {
  for (auto at = values.begin(); at != values.end();) at = at->second.use_count() == 1 ? values.erase(at) : std::next(at);
}
}  // namespace

std::shared_ptr<TileArchive> NativeTilesets::archive(int64_t id) const { return known(archives_, id); }
std::shared_ptr<TileBundles> NativeTilesets::bundles(int64_t id) const { return known(bundles_, id); }
std::shared_ptr<TileDatabase> NativeTilesets::database(int64_t id) const { return known(databases_, id); }

void NativeTilesets::put_archive(int64_t id, std::shared_ptr<TileArchive> archive) {
  drop_unused();
  archives_[id] = std::move(archive);
}

void NativeTilesets::put_bundles(int64_t id, std::shared_ptr<TileBundles> bundles) {
  drop_unused();
  bundles_[id] = std::move(bundles);
}

void NativeTilesets::put_database(int64_t id, std::shared_ptr<TileDatabase> database) {
  drop_unused();
  databases_[id] = std::move(database);
}

void NativeTilesets::drop_unused() {
  erase_unused(archives_);
  erase_unused(bundles_);
  erase_unused(databases_);
}

int NativeTilesets::put_heads(std::string_view found, std::string_view not_modified) {
  HeadsWithGaps heads;
  if (!heads.set(found, not_modified)) return -1;
  heads_.push_back(std::move(heads));
  return static_cast<int>(heads_.size()) - 1;
}

const HeadsWithGaps *NativeTilesets::heads(int64_t number) const {
  return number >= 0 && static_cast<size_t>(number) < heads_.size() ? &heads_[static_cast<size_t>(number)] : nullptr;
}
