// Approximate number of recent requests for an entry: a count-min sketch of 4-bit counters that are halved periodically (TinyLFU: Einziger,
// Friedman, Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", 2017). It distinguishes entries that are requested again from those that
// a scan requests once.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <vector>

class FrequencySketch {
 public:
  // Prepares for a cache of about this many entries, with 8 to 16 bytes for each. Clears all counters.
  void resize(size_t entries);
  void add(size_t hash);
  // Returns 0 to 15: never less than the true number since the counters were halved, except for the limit of 15.
  unsigned estimate(size_t hash) const;

 private:
  // The four counters of an entry are in one cache line, each row in its own two words.
  struct alignas(64) Block {
    uint64_t words[8] = {};
  };
  size_t block_of(size_t hash) const { return (hash >> 40) & (blocks_.size() - 1); }
  void halve();

  std::vector<Block> blocks_ = std::vector<Block>(1);  // its size is a power of two
  size_t added_ = 0, period_ = 0;
};
