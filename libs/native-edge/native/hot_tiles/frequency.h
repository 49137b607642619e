// How often something was asked for lately, roughly: a count-min sketch of 4-bit counters that are halved from time to time (TinyLFU: Einziger,
// Friedman, Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", 2017). It tells apart what is asked for again from what a scan passes by.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <vector>

class FrequencySketch {
 public:
  // For a cache of about so many entries; 8 to 16 bytes for each. Forgets everything.
  void resize(size_t entries);
  void add(size_t hash);
  // 0 to 15, never less than the true number since the counters were halved, but for that limit.
  unsigned estimate(size_t hash) const;

 private:
  // The four counters of an entry lie in one cache line, each in two words of its own.
  struct alignas(64) Block {
    uint64_t words[8] = {};
  };
  size_t block_of(size_t hash) const { return (hash >> 40) & (blocks_.size() - 1); }
  void halve();

  std::vector<Block> blocks_ = std::vector<Block>(1);  // a power of two of them
  size_t added_ = 0, period_ = 0;
};
