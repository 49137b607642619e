// Samples of the responses for tiles, from which JavaScript learns which parts of the map are requested.
#pragma once
#include <stdint.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "usage.h"

// Chooses the responses that are kept. Since the last `take`, the first ones are all kept and count once. Each later one is kept with the same
// probability, independently of the others, and then represents `every` responses. So no pattern of requests is preferred, and the sums are right
// on average.
class Sampler {
 public:
  // `exact` is the number of responses that count once. `every` is the average interval at which later ones are kept; 0 keeps none.
  void set(uint32_t exact, uint32_t every, uint32_t seed) {
    exact_ = left_ = exact;
    every_ = every;
    random_.seed(seed);
    gap_ = next_gap();
  }
  // Returns how many responses the next one represents; 0 if it is not kept.
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
  uint64_t gap_ = 0;  // responses until the next one that is kept, which is included
  std::mt19937 random_;
};

struct SampledTile {
  UsagePointer version;
  uint32_t z, x, y;
  uint32_t weight;  // number of responses that this one represents
  bool is_missing;
};

class SampledTiles {
 public:
  void set(uint32_t exact, uint32_t every, uint32_t seed) {
    found_.set(exact, every, seed);
    missing_.set(exact, every, seed + 1);
  }
  // Notes a response for a version's tile. `target` is the address of the tile as in the request line.
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
