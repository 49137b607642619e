#include "cold_sets.h"

ColdSets cold_sets;

bool ColdSet::has_extension(std::string_view name) const {
  const size_t at = extensions.find(name);
  return at != extensions.npos && at > 0 && extensions[at - 1] == ' ' && extensions[at + name.size()] == ' ';
}

void ColdSets::put(std::unique_ptr<ColdSet> set) {
  const auto known = sets_.find(set->address);
  if (known != sets_.end()) {
    const std::unique_ptr<ColdSet> before = std::move(known->second);  // the key is a view into it
    sets_.erase(known);
  }
  const std::string_view key = set->address;
  sets_.emplace(key, std::move(set));
}

ColdSet *ColdSets::at(std::string_view address) const {
  const auto found = sets_.find(address);
  return found == sets_.end() ? nullptr : found->second.get();
}

void ColdSets::drop_code(uint32_t code) {
  for (auto at = sets_.begin(); at != sets_.end();) {
    if (at->second->code != code) {
      ++at;
      continue;
    }
    const std::unique_ptr<ColdSet> dropped = std::move(at->second);
    at = sets_.erase(at);
  }
  drop_unused_archives();
}

void ColdSets::clear() {
  sets_.clear();
  archives_.clear();
}

const ColdSet *ColdSets::find(std::string_view target, int64_t now, std::string_view *place) const {
  constexpr std::string_view prefix = "/tiles/";
  if (sets_.empty() || target.substr(0, prefix.size()) != prefix) return nullptr;
  size_t slash = target.size();
  for (int parts = 0; parts < 3; parts++) {
    slash = target.rfind('/', slash - 1);
    if (slash == target.npos || slash <= prefix.size()) return nullptr;
  }
  const auto found = sets_.find(target.substr(prefix.size(), slash - prefix.size()));
  if (found == sets_.end() || now >= found->second->good_until) return nullptr;
  *place = target.substr(slash + 1);
  return found->second.get();
}

std::shared_ptr<TileArchive> ColdSets::archive(int64_t id) const {
  const auto found = archives_.find(id);
  return found == archives_.end() ? nullptr : found->second;
}

void ColdSets::put_archive(int64_t id, std::shared_ptr<TileArchive> archive) {
  drop_unused_archives();
  archives_[id] = std::move(archive);
}

void ColdSets::drop_unused_archives() {
  for (auto at = archives_.begin(); at != archives_.end();) at = at->second.use_count() == 1 ? archives_.erase(at) : std::next(at);
}

int ColdSets::put_heads(std::string_view found, std::string_view not_modified) {
  HeadsWithGaps heads;
  if (!heads.set(found, not_modified)) return -1;
  heads_.push_back(std::move(heads));
  return static_cast<int>(heads_.size()) - 1;
}

const HeadsWithGaps *ColdSets::heads(int64_t number) const {
  return number >= 0 && static_cast<size_t>(number) < heads_.size() ? &heads_[static_cast<size_t>(number)] : nullptr;
}
