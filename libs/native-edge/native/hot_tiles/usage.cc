#include "usage.h"

#include <unordered_map>

namespace {
struct Cells {
  std::unordered_map<std::string_view, UsageCell *> by_name;  // the keys are views into the cells
  std::vector<UsagePointer> listed;
};

// A pair holds the cells whose addresses are its key, so that no other cell gets these addresses.
struct Pair {
  UsagePointer token, version, pair;
};
struct Pairs {
  using Key = std::pair<const UsageCell *, const UsageCell *>;
  struct Hash {
    size_t operator()(const Key &key) const {
      const auto number = [](const UsageCell *cell) { return reinterpret_cast<uintptr_t>(cell) / sizeof(UsageCell); };
      return number(key.first) * 0x9e3779b97f4a7c15 ^ number(key.second);
    }
  };
  size_t most = 0;
  std::unordered_map<Key, Pair, Hash> known;
};

// Never destroyed, because holders of cells may live as long as the process.
Cells &cells() {
  static Cells &all = *new Cells;
  return all;
}

Pairs &pairs() {
  static Pairs &all = *new Pairs;
  return all;
}

// Drops the pairs that counted nothing since JavaScript last took the counts, but only if there are many: most are used
// again.
void drop_idle_pairs() {
  auto &[most, known] = pairs();
  if (known.size() <= most / 2) return;
  for (auto it = known.begin(); it != known.end();) it = it->second.pair->is_listed ? std::next(it) : known.erase(it);
}
}  // namespace

void UsageCell::list() {
  is_listed = true;
  cells().listed.emplace_back(this);
}

void UsagePointer::forget(UsageCell *cell) {
  cells().by_name.erase(cell->name);
  delete cell;
}

UsagePointer usage_of(std::string_view name) {
  if (name.empty()) return {};
  auto &by_name = cells().by_name;
  const auto known = by_name.find(name);
  if (known != by_name.end()) return UsagePointer(known->second);
  auto *cell = new UsageCell(name);
  by_name.emplace(cell->name, cell);
  return UsagePointer(cell);
}

void limit_pairs(size_t most) { pairs().most = most; }

UsagePointer LastPairs::pair_of(const UsagePointer &token, const UsagePointer &version) {
  auto &[most, known] = pairs();
  if (most == 0) return {};
  const Pairs::Key key{token.get(), version.get()};
  const auto found = known.find(key);
  if (found != known.end()) return found->second.pair;
  if (known.size() >= most) return {};
  std::string name = token->name;
  name.append(1, ' ').append(version->name);
  return known.emplace(key, Pair{token, version, usage_of(name)}).first->second.pair;
}

std::vector<std::pair<std::string, UsageCounts>> take_usage() {
  drop_idle_pairs();
  std::vector<std::pair<std::string, UsageCounts>> taken;
  for (const UsagePointer &cell : std::exchange(cells().listed, {})) {
    cell->is_listed = false;
    taken.emplace_back(cell->name, std::exchange(cell->counts, {}));
  }
  return taken;
}
