// Times of a sample of native responses, by the storage of their tiles, and of refusals.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>

struct AnswerTimes {
  // Upper bounds in seconds, equal to ANSWER_TIME_BOUNDS of libs/contracts/src/traffic.ts.
  static constexpr double kBounds[] = {0.00001, 0.00002, 0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30};
  static constexpr size_t kBuckets = std::size(kBounds) + 1;
  // One response in this many is timed (TIMED_EVERY of response-table.ts): two clock reads for each would be a measurable part of its cost.
  static constexpr uint32_t kTimedEvery = 64;
  using Clock = std::chrono::steady_clock;

  void add(Clock::duration duration) {
    const double took = std::chrono::duration<double>(duration).count();
    size_t bucket = 0;
    while (bucket < std::size(kBounds) && took > kBounds[bucket]) bucket++;
    buckets[bucket]++;
    seconds += took;
  }

  double seconds = 0;
  uint64_t buckets[kBuckets] = {};
};
inline AnswerTimes times_in_memory, times_in_page_cache, times_of_refusals, times_of_tile_documents, times_of_catalog_documents;  // all on one thread
