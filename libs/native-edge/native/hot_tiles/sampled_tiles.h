// Where on the map tiles are asked for: the answers that are sampled for it, taken by JavaScript from time to time.
#pragma once
#include <stdint.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "usage.h"

// Which answers count: since they were last taken the first ones all for one, of the later ones each with the same probability, independent of the others,
// for as many as it stands for. So no pattern of requests is preferred, and the sums are right on average.
class Sampler {
 public:
  // `exact`: how many count for one. `every`: one in so many of the others does, on average; 0: none.
  void set(uint32_t exact, uint32_t every, uint32_t seed) {
    exact_ = left_ = exact;
    every_ = every;
    random_.seed(seed);
    gap_ = next_gap();
  }
  // For how many the next answer counts; 0: it does not.
  uint32_t weigh() {
    if (left_ > 0) return left_--, 1;
    if (every_ == 0 || --gap_ > 0) return 0;
    gap_ = next_gap();
    return every_;
  }
  void begin_anew() { left_ = exact_; }

 private:
  uint64_t next_gap() { return every_ ? 1 + std::geometric_distribution<uint64_t>(1.0 / every_)(random_) : 0; }
  uint32_t exact_ = 0, left_ = 0, every_ = 0;
  uint64_t gap_ = 0;  // answers until the next one that counts, itself included
  std::mt19937 random_;
};

struct SampledTile {
  UsagePointer version;
  uint32_t z, x, y;
  uint32_t weight;  // answers that it stands for
  bool is_missing;
};

class SampledTiles {
 public:
  void set(uint32_t exact, uint32_t every, uint32_t seed) {
    found_.set(exact, every, seed);
    missing_.set(exact, every, seed + 1);
  }
  // An answer for a version's tile. `target`: its address, as it stands in the request line.
  void note(const UsagePointer &version, std::string_view target, bool is_missing) {
    if (const uint32_t weight = (is_missing ? missing_ : found_).weigh()) keep(version, target, weight, is_missing);
  }
  std::vector<SampledTile> take();

 private:
  void keep(const UsagePointer &version, std::string_view target, uint32_t weight, bool is_missing);
  Sampler found_, missing_;
  std::vector<SampledTile> tiles_;
};
inline SampledTiles sampled_tiles;  // all on one thread
