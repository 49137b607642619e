#include "header_template.h"

#include <algorithm>
#include <charconv>

namespace {
template <size_t count>
bool split(std::string_view text, std::string (&pieces)[count]) {
  for (size_t i = 0; i < count; i++) {
    const size_t end = std::min(text.find(kGap), text.size());
    const bool is_last = end == text.size();
    if (is_last != (i == count - 1)) return false;
    pieces[i] = text.substr(0, end);
    text.remove_prefix(is_last ? end : end + 1);
  }
  return true;
}
}  // namespace

Writer &Writer::add(std::string_view text) {
  if (text.size() > static_cast<size_t>(end_ - at_)) ok_ = false;
  else at_ += text.copy(at_, text.size());
  return *this;
}

Writer &Writer::number(uint64_t value, int base) {
  const auto [at, error] = std::to_chars(at_, end_, value, base);
  if (error == std::errc()) at_ = at;
  else ok_ = false;
  return *this;
}

Writer &Writer::two_digits(int value) {
  const char digits[] = {static_cast<char>('0' + value / 10), static_cast<char>('0' + value % 10)};
  return add({digits, sizeof digits});
}

Writer &Writer::date(int64_t seconds) {
  constexpr std::string_view days = "SunMonTueWedThuFriSat", months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  constexpr int year_1000 = 1000 - 1900, year_9999 = 9999 - 1900;  // other years do not have four digits
  const time_t time = seconds;
  tm utc;
  if (!gmtime_r(&time, &utc) || utc.tm_year < year_1000 || utc.tm_year > year_9999) {
    ok_ = false;
    return *this;
  }
  add(days.substr(static_cast<size_t>(utc.tm_wday) * 3, 3)).add(", ").two_digits(utc.tm_mday).add(" ");
  add(months.substr(static_cast<size_t>(utc.tm_mon) * 3, 3)).add(" ").number(static_cast<uint64_t>(utc.tm_year) + 1900).add(" ");
  return two_digits(utc.tm_hour).add(":").two_digits(utc.tm_min).add(":").two_digits(utc.tm_sec).add(" GMT");
}

bool HeadsWithGaps::set(std::string_view found_text, std::string_view not_modified_text) {
  if (split(found_text, found)) return split(not_modified_text, not_modified);
  std::string aged[6], aged_not_modified[4];
  if (!split(found_text, aged) || !split(not_modified_text, aged_not_modified)) return false;
  has_age = true;
  found_age = aged[3];
  not_modified_age = aged_not_modified[2];
  for (size_t i = 0; i < 5; i++) found[i] = aged[i < 3 ? i : i + 1];
  for (size_t i = 0; i < 3; i++) not_modified[i] = aged_not_modified[i < 2 ? i : i + 1];
  return true;
}
