// The head of an answer with gaps for what differs from tile to tile, and writing into a piece of memory.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <string>
#include <string_view>

// Appends to memory that somebody else owns; what does not fit is left out, and `ok` false from then on.
class Writer {
 public:
  Writer(char *begin, size_t size) : begin_(begin), at_(begin), end_(begin + size) {}
  Writer &add(std::string_view text);
  Writer &number(uint64_t value, int base = 10);
  // As HTTP has it (RFC 9110, 5.6.7), without a time zone's name: seconds since 1970.
  Writer &date(int64_t seconds);
  bool ok() const { return ok_; }
  std::string_view text() const { return {begin_, static_cast<size_t>(at_ - begin_)}; }

 private:
  Writer &two_digits(int value);
  char *begin_, *at_, *end_;
  bool ok_ = true;
};

// Marks a gap in the text that JavaScript gives.
constexpr char kGap = '\x01';

// Head of a 200, whose gaps are the entity tag, the date of change and the length of the body, and that of a 304, which has the first two; without Date.
struct HeadsWithGaps {
  std::string found[4], not_modified[3];
  // false: the texts have not these gaps.
  bool set(std::string_view found_text, std::string_view not_modified_text);
};
