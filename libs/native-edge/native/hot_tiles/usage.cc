#include "usage.h"

#include <unordered_map>

namespace {
struct Cells {
  std::unordered_map<std::string_view, UsageCell *> by_name;  // the keys are views into the cells
  std::vector<UsagePointer> listed;
};

// Never destroyed: what holds cells may live as long as the process.
Cells &cells() {
  static Cells &all = *new Cells;
  return all;
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

std::vector<std::pair<std::string, UsageCounts>> take_usage() {
  std::vector<std::pair<std::string, UsageCounts>> taken;
  for (const UsagePointer &cell : std::exchange(cells().listed, {})) {
    cell->is_listed = false;
    taken.emplace_back(cell->name, std::exchange(cell->counts, {}));
  }
  return taken;
}
