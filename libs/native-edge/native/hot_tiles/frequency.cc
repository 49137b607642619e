#include "frequency.h"

#include <algorithm>

namespace {
constexpr size_t kRows = 4, kWordsOfRow = 2, kBits = 4;
constexpr uint64_t kMost = 15;
// Counters are halved after this many requests for each entry of the cache, so that recent requests outweigh those of an hour ago.
constexpr size_t kRequestsOfEntry = 10;

// The word of the block that contains the counter of a row, and the counter's bit position in it.
struct Place {
  size_t word;
  unsigned shift;
};
Place place_of(size_t hash, size_t row) {
  const size_t bits = hash >> row * 8;
  return {row * kWordsOfRow + (bits & 1), static_cast<unsigned>((bits >> 1 & 15) * kBits)};
}
}  // namespace

void FrequencySketch::resize(size_t entries) {
  size_t blocks = 1;
  while (blocks * sizeof(Block) < entries * sizeof(uint64_t)) blocks *= 2;
  blocks_.assign(blocks, {});
  added_ = 0;
  period_ = std::max<size_t>(entries, sizeof(Block) / sizeof(uint64_t)) * kRequestsOfEntry;
}

void FrequencySketch::add(size_t hash) {
  Block &block = blocks_[block_of(hash)];
  for (size_t row = 0; row < kRows; row++) {
    const auto [word, shift] = place_of(hash, row);
    if ((block.words[word] >> shift & kMost) < kMost) block.words[word] += uint64_t{1} << shift;
  }
  if (++added_ >= period_) halve();
}

unsigned FrequencySketch::estimate(size_t hash) const {
  const Block &block = blocks_[block_of(hash)];
  uint64_t least = kMost;
  for (size_t row = 0; row < kRows; row++) {
    const auto [word, shift] = place_of(hash, row);
    least = std::min(least, block.words[word] >> shift & kMost);
  }
  return static_cast<unsigned>(least);
}

void FrequencySketch::halve() {
  added_ /= 2;
  for (Block &block : blocks_) {
    for (uint64_t &word : block.words) word = word >> 1 & 0x7777'7777'7777'7777;
  }
}
