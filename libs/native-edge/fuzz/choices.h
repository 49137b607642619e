// The source of a case's decisions: a seed, or the bytes from libFuzzer. The same source yields the same case.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <string>
#include <vector>

class Choices {
 public:
  explicit Choices(uint64_t seed) : state_(seed) {}
  Choices(const uint8_t *bytes, size_t size) : bytes_(bytes), left_(size), from_bytes_(true) {}

  uint64_t next() {
    if (!from_bytes_) return mixed();
    uint64_t value = 0;
    for (int i = 0; i < 2 && left_ > 0; i++, left_--) value = value << 8 | *bytes_++;
    return value;
  }
  // Limit: `count` is at most 65,536, the range of the bytes.
  size_t below(size_t count) { return static_cast<size_t>(next() % count); }
  // True once in `times`.
  bool once_in(size_t times) { return below(times) == 0; }
  template <typename T>
  const T &of(const std::vector<T> &list) {
    return list[below(list.size())];
  }
  // Returns bytes of any value, or of the given letters.
  std::string text(size_t length, std::string_view letters = {}) {
    std::string made;
    for (size_t i = 0; i < length; i++) made += letters.empty() ? static_cast<char>(next()) : letters[below(letters.size())];
    return made;
  }
  // libFuzzer's bytes are finite; loops that depend on them must check this.
  bool exhausted() const { return from_bytes_ && left_ == 0; }

 private:
  // splitmix64
  uint64_t mixed() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  uint64_t state_ = 0;
  const uint8_t *bytes_ = nullptr;
  size_t left_ = 0;
  bool from_bytes_ = false;
};
