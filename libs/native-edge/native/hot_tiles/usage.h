// What tokens and versions were used for, as it is accounted: counted where requests are answered, taken by JavaScript from time to time.
#pragma once
#include <stdint.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct UsageCounts {
  uint64_t requests = 0;
  uint64_t tiles = 0;    // 200 and 304
  uint64_t missing = 0;  // there is no such tile
  uint64_t bytes = 0;    // of bodies
  uint64_t refused = 0;  // not granted
};

// The counts of one token or version. Reference-counted by what counts for it, and by what was counted and not taken yet; all on one thread. What a
// request touches is in one line of the processor's caches: with tens of thousands of tokens each is read from main memory.
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
  bool is_listed = false;  // among those that JavaScript is to take
  const std::string name;  // by JavaScript

 private:
  void list();
};

// Holds a cell, or nothing.
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

// The pairs that a token was counted in last, by version, so that most requests need no look-up.
class LastPairs {
 public:
  // The cell of both together; nothing if there are as many pairs as there may be.
  const UsagePointer &of(const UsagePointer &token, const UsagePointer &version) {
    Place &place = places_[(reinterpret_cast<uintptr_t>(version.get()) / sizeof(UsageCell)) % kPlaces];
    if (place.version.get() != version.get() || !place.pair) place = {version, pair_of(token, version)};
    return place.pair;
  }

 private:
  static UsagePointer pair_of(const UsagePointer &token, const UsagePointer &version);
  static constexpr size_t kPlaces = 4;  // a map of some layers asks for as many versions in turns
  struct Place {
    UsagePointer version, pair;
  };
  Place places_[kPlaces];
};

// Whom a request is counted for: a token and a version together, of which JavaScript makes the sums of both. Each by itself if the other is nobody, or
// if there are too many pairs.
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

// Limit: pairs of a token and a version at a time, some 400 bytes each; 0: none.
void limit_pairs(size_t most);

// The cell of this name, the same for all that ask while somebody holds it; nothing for an empty name.
UsagePointer usage_of(std::string_view name);

// The cells with something in them, which begin anew at zero.
std::vector<std::pair<std::string, UsageCounts>> take_usage();
