// The accounted usage of tokens and versions, counted when requests are answered, and taken by JavaScript periodically.
#pragma once
#include <stdint.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct UsageCounts {
  uint64_t requests = 0;
  uint64_t tiles = 0;    // 200 and 304
  uint64_t missing = 0;  // no such tile exists
  uint64_t bytes = 0;    // bytes of bodies
  uint64_t refused = 0;  // not granted
};

// The counts of one token or version. Reference-counted by the entries that count in it, and by counts that were not taken yet; all use is on one
// thread. The parts that a request touches are in one cache line of the processor, because with tens of thousands of tokens each is read from main
// memory.
class alignas(64) UsageCell {
 public:
  explicit UsageCell(std::string_view its_name) : name(its_name) {}
  void add(const UsageCounts &more) {
    counts.requests += more.requests;
    counts.tiles += more.tiles;
    counts.missing += more.missing;
    counts.bytes += more.bytes;
    counts.refused += more.refused;
    if (!is_listed) list();
  }

  UsageCounts counts;
  uint32_t holders = 0;
  bool is_listed = false;  // is among those that JavaScript will take
  const std::string name;  // given by JavaScript

 private:
  void list();
};

// A counted reference to a cell; may be empty.
class UsagePointer {
 public:
  UsagePointer() = default;
  explicit UsagePointer(UsageCell *cell) : cell_(cell) {
    if (cell_) cell_->holders++;
  }
  UsagePointer(UsagePointer &&other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {}
  UsagePointer(const UsagePointer &other) : UsagePointer(other.cell_) {}
  UsagePointer &operator=(UsagePointer other) noexcept {
    std::swap(cell_, other.cell_);
    return *this;
  }
  ~UsagePointer() {
    if (cell_ && --cell_->holders == 0) forget(cell_);
  }
  UsageCell *operator->() const { return cell_; }
  UsageCell *get() const { return cell_; }
  explicit operator bool() const { return cell_ != nullptr; }

 private:
  static void forget(UsageCell *cell);
  UsageCell *cell_ = nullptr;
};

// The pairs in which a token was last counted, by version, so that most requests need no look-up.
class LastPairs {
 public:
  // Returns the cell of the pair; empty if the limit of pairs is reached.
  const UsagePointer &of(const UsagePointer &token, const UsagePointer &version) {
    Place &place = places_[(reinterpret_cast<uintptr_t>(version.get()) / sizeof(UsageCell)) % kPlaces];
    if (place.version.get() != version.get() || !place.pair) place = {version, pair_of(token, version)};
    return place.pair;
  }

 private:
  static UsagePointer pair_of(const UsagePointer &token, const UsagePointer &version);
  static constexpr size_t kPlaces = 4;  // a map of several layers requests as many versions in turn
  struct Place {
    UsagePointer version, pair;
  };
  Place places_[kPlaces];
};

// The parties for which a request is counted: a token and a version as a pair, which JavaScript adds to the sums of both. They are counted separately
// if one of them is missing, or if the limit of pairs is reached.
struct Parties {
  UsagePointer token, version, pair;
  Parties() = default;
  Parties(const UsagePointer &its_token, const UsagePointer &its_version, LastPairs &pairs) : version(its_version) {
    if (its_token && its_version) pair = pairs.of(its_token, its_version);
    if (!pair) token = its_token;
  }
  void add(const UsageCounts &more) const {
    if (pair) return pair->add(more);
    if (token) token->add(more);
    if (version) version->add(more);
  }
};

// Limit: number of pairs of a token and a version, some 400 bytes each; 0 allows none.
void limit_pairs(size_t most);

// Returns the cell of this name, shared by all callers as long as it is held; empty for an empty name.
UsagePointer usage_of(std::string_view name);

// Returns the counts of all cells that counted something, and resets them to zero.
std::vector<std::pair<std::string, UsageCounts>> take_usage();
