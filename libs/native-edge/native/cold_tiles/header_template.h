// The head of a response with gaps for the parts that differ between tiles, and a writer into a piece of memory.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <string>
#include <string_view>

// Appends to memory that the caller owns. Text that does not fit is omitted, and `ok` stays false from then on.
class Writer {
 public:
  Writer(char *begin, size_t size) : begin_(begin), at_(begin), end_(begin + size) {}
  Writer &add(std::string_view text);
  Writer &number(uint64_t value, int base = 10);
  // Writes seconds since 1970 as an HTTP date (RFC 9110, 5.6.7), without the name of a time zone.
  Writer &date(int64_t seconds);
  bool ok() const { return ok_; }
  std::string_view text() const { return {begin_, static_cast<size_t>(at_ - begin_)}; }

 private:
  Writer &two_digits(int value);
  char *begin_, *at_, *end_;
  bool ok_ = true;
};

// Marks a gap in the text from JavaScript.
constexpr char kGap = '\x01';

// Head of a 200, whose gaps are the media type, the entity tag, the date of change and the length of the body, and of a 304, which has the second and
// the third; both without Date. Tiles that are current for a time have one more gap behind the entity tag, for the seconds.
struct HeadsWithGaps {
  std::string found[5], not_modified[3];
  // Texts behind the seconds.
  std::string found_age, not_modified_age;
  bool has_age = false;
  // False if the texts do not have exactly these gaps.
  bool set(std::string_view found_text, std::string_view not_modified_text);
};
