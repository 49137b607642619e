// How long native answers take, of a sample; and which requests are left to JavaScript so that it can log them.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>

class AnswerWatch {
 public:
  // Upper bounds in seconds; ANSWER_TIME_BOUNDS of src/hot-tiles/response-table.ts says the same.
  static constexpr double kBounds[] = {0.00001, 0.00005, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30};
  static constexpr size_t kBuckets = std::size(kBounds) + 1;

  // 0: none is left to JavaScript.
  void pick_every(uint32_t requests) { every_ = left_ = requests; }

  // Whether JavaScript is to have this request, whatever the table has.
  bool picks() {
    picked_ = every_ > 0 && --left_ == 0;
    if (picked_) left_ = every_;
    return picked_;
  }

  // Of the newest request.
  bool picked() const { return picked_; }

  // Runs `answer`, and times it where it is the turn of the sample: two clock reads for each answer would be a measurable part of it.
  template <typename Answer>
  bool timed(Answer answer) {
    if (++seen_ % kTimedEvery != 0) return answer();
    const auto begun = std::chrono::steady_clock::now();
    if (!answer()) return false;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    size_t bucket = 0;
    while (bucket < std::size(kBounds) && took.count() > kBounds[bucket]) bucket++;
    buckets[bucket]++;
    seconds += took.count();
    return true;
  }

  double seconds = 0;               // of all timed answers
  uint64_t buckets[kBuckets] = {};  // timed answers by how long they took

 private:
  static constexpr uint32_t kTimedEvery = 64;  // TIMED_EVERY of response-table.ts
  uint32_t every_ = 0, left_ = 0, seen_ = 0;
  bool picked_ = false;
};
inline AnswerWatch answer_watch;  // all on one thread
