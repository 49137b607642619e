#include "request_fields.h"

#include <string.h>
#include <strings.h>

#include <algorithm>

namespace {
constexpr Credential kUnclear = {};

// Limits in bytes, as in the TypeScript code: of a query that is parsed here, of a list of tags, and of a list of encodings.
constexpr size_t kMaxQuery = 512, kMaxTags = 4'096, kMaxEncodings = 512;

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 128; });
}

bool equals(std::string_view text, std::string_view lower_case) {
  return text.size() == lower_case.size() && strncasecmp(text.data(), lower_case.data(), text.size()) == 0;
}

bool begins(std::string_view text, std::string_view lower_case) { return equals(text.substr(0, lower_case.size()), lower_case); }

// Removes the text up to the next separator, and the separator. Returns the text.
std::string_view take_part(std::string_view *text, char separator) {
  const size_t end = std::min(text->find(separator), text->size());
  const std::string_view part = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return part;
}

// Adds the token of one more place; the same token counts once.
void add(std::string_view token, Credential *found) {
  if (found->kind == Credential::None) *found = {Credential::Token, token, found->may_refuse};
  else if (found->token != token) found->kind = Credential::Unclear;
}

// A signed URL has its parameters in the order `exp`, `sig`. JavaScript judges any other order, and addresses with bounds.
struct Signature {
  std::string_view expiry, text;  // the parameter `exp`, and both parameters
  bool is_unclear = false;
};

void add_signed(std::string_view name, std::string_view parameter, Signature *found) {
  if (name == "exp") {
    found->is_unclear |= !found->expiry.empty();
    found->expiry = parameter;
  } else if (name == "sig") {
    const bool follows = !found->expiry.empty() && found->expiry.data() + found->expiry.size() + 1 == parameter.data();
    found->is_unclear |= !found->text.empty() || !follows;
    found->text = follows ? std::string_view(found->expiry.data(), found->expiry.size() + 1 + parameter.size()) : parameter;
  } else if (name == "bounds") {
    found->is_unclear = true;
  }
}

// True if the name of a parameter looks like a credential's: CREDENTIAL_NAME of access/credential-hints.ts. JavaScript then explains the mistake.
bool names_credential(std::string_view name) {
  const auto holds = [name](std::string_view word) {
    return std::search(name.begin(), name.end(), word.begin(), word.end(), [](char a, char b) { return (a | 0x20) == b; }) != name.end();
  };
  return holds("key") || holds("token") || holds("auth") || holds("bearer") || holds("jwt") || equals(name, "tk");
}

bool has_credential_name(std::string_view query) {
  while (!query.empty()) {
    std::string_view parameter = take_part(&query, '&');
    if (names_credential(take_part(&parameter, '='))) return true;
  }
  return false;
}

// Collects the tokens of a query. Other parameters, such as a revision, do not change the tile that an address names. Unclear: an encoded name,
// and a second question mark at the beginning, which URLSearchParams skips.
void add_query(std::string_view query, Credential *found, Signature *signature) {
  if (query.size() > kMaxQuery || (!query.empty() && query.front() == '?')) found->kind = Credential::Unclear;
  while (!query.empty() && found->kind != Credential::Unclear) {
    std::string_view value = take_part(&query, '&');
    const std::string_view parameter = value, name = take_part(&value, '=');
    add_signed(name, parameter, signature);
    if (name.find_first_of("%+") != std::string_view::npos) found->kind = Credential::Unclear;
    // A text with an encoded character is neither a token of the table nor plain.
    if (!value.empty() && (name == "token" || name == "access_token")) add(value, found);
  }
}

constexpr std::string_view kTokenMark = "bmp_";  // access/token-format.ts
constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
struct Base64Table {
  signed char value[256];
  constexpr Base64Table() : value() {
    for (signed char &one : value) one = -1;
    for (size_t i = 0; i < kBase64.size(); i++) value[static_cast<unsigned char>(kBase64[i])] = static_cast<signed char>(i);
  }
};
constexpr Base64Table kBase64Values;

// Decodes canonical base64 (RFC 4648, 4) of up to 192 bytes. Data is null for other text: JavaScript accepts more forms.
std::string_view decode_base64(std::string_view text) {
  static char decoded[192];
  if (text.empty() || text.size() % 4 || text.size() > sizeof decoded / 3 * 4) return {};
  const size_t padding = text.back() != '=' ? 0 : text[text.size() - 2] != '=' ? 1 : 2;
  size_t size = 0;
  for (size_t i = 0; i < text.size(); i += 4) {
    uint32_t bits = 0;
    for (size_t j = i; j < i + 4; j++) {
      const bool is_padding = j >= text.size() - padding;
      const int value = is_padding ? 0 : kBase64Values.value[static_cast<unsigned char>(text[j])];
      if (value < 0) return {};
      bits = bits << 6 | static_cast<uint32_t>(value);
    }
    for (const int shift : {16, 8, 0}) decoded[size++] = static_cast<char>(bits >> shift & 0xff);
  }
  return {decoded, size - padding};
}

// Accepts a password in the form of a token as one, with any user name. Other credentials are ignored here.
void add_basic(std::string_view encoded, Credential *found) {
  // JavaScript adds a challenge for a password to its refusals.
  found->may_refuse = false;
  const std::string_view credentials = decode_base64(encoded);
  if (!credentials.data()) found->kind = Credential::Unclear;
  const size_t colon = credentials.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view password = credentials.substr(colon + 1);
  if (password.substr(0, kTokenMark.size()) == kTokenMark) add(password, found);
}

void add_authorization(std::string_view authorization, Credential *found) {
  constexpr std::string_view bearer = "bearer ", basic = "basic ";
  if (begins(authorization, bearer) && authorization.size() > bearer.size()) add(authorization.substr(bearer.size()), found);
  else if (begins(authorization, basic)) add_basic(authorization.substr(basic.size()), found);
  else found->kind = Credential::Unclear;
}

// True if a coding is refused: its weight is 0, in any notation (RFC 9110, 12.4.2).
bool is_refused(std::string_view parameters) {
  while (!parameters.empty()) {
    std::string_view value = take_part(&parameters, ';');
    if (!equals(trim(take_part(&value, '=')), "q")) continue;
    value = trim(value);
    if (value == "0" || (value.size() <= 5 && value.substr(0, 2) == "0." && value.find_first_not_of('0', 2) == std::string_view::npos)) return true;
  }
  return false;
}

// Entity tags may hold commas, so the list cannot be split at them.
bool names_tag(std::string_view list, std::string_view etag) {
  for (size_t from = list.find('"'); from != std::string_view::npos;) {
    const size_t to = list.find('"', from + 1);
    if (to == std::string_view::npos) return false;
    if (list.substr(from, to - from + 1) == etag) return true;
    from = list.find('"', to + 1);
  }
  return false;
}

constexpr std::string_view kDays = "Sun Mon Tue Wed Thu Fri Sat ", kMonths = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec ";

// Returns the index of a name of three letters in a list of such names, or -1.
int place_of(std::string_view name, std::string_view names) {
  const size_t at = names.find(name);
  return at == std::string_view::npos || at % 4 ? -1 : static_cast<int>(at / 4);
}

int number(std::string_view digits) {
  int value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

// Returns the days since 1970 of a date of the Gregorian calendar; months count from 1. Calculates with years that begin in March, so that a leap
// day is the last of its year.
int64_t days_since_1970(int year, int month, int day) {
  const int64_t y = month > 2 ? year : year - 1;
  const int64_t leap_days = y / 4 - y / 100 + y / 400;
  const int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return y * 365 + leap_days + day_of_year - 719'468;
}

// Parses "Sun, 06 Nov 1994 08:49:37 GMT" (IMF-fixdate, RFC 9110, 5.6.7), the form of Last-Modified, of a valid day. False for any other text,
// since Date.parse accepts many more forms. Like Date.parse, it does not compare the name of the day with the date.
bool read_date(std::string_view text, int64_t *seconds) {
  if (text.size() != 29 || text.substr(3, 2) != ", " || text.substr(25) != " GMT") return false;
  if (text[7] != ' ' || text[11] != ' ' || text[16] != ' ' || text[19] != ':' || text[22] != ':') return false;
  const int month = place_of(text.substr(8, 3), kMonths), day = number(text.substr(5, 2)), year = number(text.substr(12, 4));
  const int hour = number(text.substr(17, 2)), minute = number(text.substr(20, 2)), second = number(text.substr(23, 2));
  if (place_of(text.substr(0, 3), kDays) < 0 || month < 0 || year < 1000) return false;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return false;
  constexpr int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool is_leap_day = month == 1 && day == 29 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  if (day < 1 || (day > lengths[month] && !is_leap_day)) return false;
  *seconds = days_since_1970(year, month + 1, day) * 86'400 + hour * 3'600 + minute * 60 + second;
  return true;
}
}  // namespace

Credential credential_of(const RequestHead &request, std::string_view query) {
  Credential found{Credential::None};
  if (!request.authorization.empty()) add_authorization(request.authorization, &found);
  if (!request.x_access_token.empty() && found.kind != Credential::Unclear) add(request.x_access_token, &found);
  Signature signature;
  add_query(query, &found, &signature);
  // A token takes precedence over a signature.
  if (found.kind == Credential::None && !signature.text.empty()) {
    if (signature.is_unclear) return kUnclear;
    found = {Credential::Token, signature.text, found.may_refuse, true};
  }
  if (found.kind == Credential::None && has_credential_name(query)) return kUnclear;
  return found.kind == Credential::Unclear ? kUnclear : found;
}

bool accepts_gzip(std::string_view accept_encoding) {
  if (accept_encoding.size() > kMaxEncodings || !is_ascii(accept_encoding)) return false;
  bool any = false;
  while (!accept_encoding.empty()) {
    std::string_view parameters = take_part(&accept_encoding, ',');
    const std::string_view coding = trim(take_part(&parameters, ';'));
    if (equals(coding, "gzip") || equals(coding, "x-gzip")) return !is_refused(parameters);
    if (coding == "*") any = !is_refused(parameters);
  }
  return any;
}

Copy judge_copy(const RequestHead &request, std::string_view etag, int64_t modified) {
  const std::string_view tags = request.if_none_match;
  if (tags.empty() && request.if_modified_since.empty()) return Copy::Stale;
  if (etag.empty()) return Copy::Unclear;
  if (tags.empty()) {
    int64_t since;
    if (!read_date(request.if_modified_since, &since)) return Copy::Unclear;
    return modified <= since ? Copy::Good : Copy::Stale;
  }
  if (tags == etag) return Copy::Good;
  if (tags.size() > kMaxTags || !is_ascii(tags)) return Copy::Unclear;
  return tags == "*" || names_tag(tags, etag) ? Copy::Good : Copy::Stale;
}
