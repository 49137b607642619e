#include "reading.h"

#include <string.h>
#include <time.h>

#include <algorithm>

namespace {
std::string lower(std::string text) {
  for (char &c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return text;
}

std::string trimmed(std::string text) {
  const size_t from = text.find_first_not_of(" \t");
  if (from == std::string::npos) return "";
  return text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

bool is_name(const std::string &text) {
  const std::string letters = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return !text.empty() && text.find_first_not_of(letters) == std::string::npos;
}

bool is_digits(const std::string &text) {
  return !text.empty() && text.size() <= 18 && text.find_first_not_of("0123456789") == std::string::npos;
}

std::vector<std::string> split(const std::string &text, char at) {
  std::vector<std::string> parts;
  for (size_t from = 0;;) {
    const size_t to = text.find(at, from);
    parts.push_back(text.substr(from, to - from));
    if (to == std::string::npos) return parts;
    from = to + 1;
  }
}

int hex(char c) {
  const std::string digits = "0123456789abcdef";
  const size_t at = digits.find(lower(std::string(1, c)));
  return at == std::string::npos || c == 0 ? -1 : static_cast<int>(at);
}

// Decodes application/x-www-form-urlencoded.
std::string decoded(const std::string &text) {
  std::string made;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] == '+') made += ' ';
    else if (text[i] == '%' && i + 2 < text.size() && hex(text[i + 1]) >= 0 && hex(text[i + 2]) >= 0) {
      made += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
      i += 2;
    } else made += text[i];
  }
  return made;
}
}  // namespace

namespace {
// RFC 3986, 3.2.2 and 3.2.3: a name or an address in brackets, and an optional port.
bool is_host(const std::string &text) {
  const std::string letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._~!$&'()*+,;=%";
  std::string rest = text;
  if (!rest.empty() && rest[0] == '[') {
    const size_t end = rest.find_first_not_of(letters + ":", 1);
    if (end == std::string::npos || end == 1 || rest[end] != ']') return false;
    rest = rest.substr(end + 1);
  } else {
    const size_t end = rest.find_first_not_of(letters);
    rest = end == std::string::npos ? "" : rest.substr(end);
  }
  return rest.empty() || (rest[0] == ':' && rest.find_first_not_of("0123456789", 1) == std::string::npos);
}
}  // namespace

std::vector<std::string> Reading::all(const std::string &name) const {
  std::vector<std::string> values;
  for (const auto &[key, value] : fields) {
    if (key == name) values.push_back(value);
  }
  return values;
}

std::string Reading::list(const std::string &name) const {
  std::string joined;
  for (const std::string &value : all(name)) joined += (joined.empty() ? "" : ",") + value;
  return joined;
}

std::string Reading::path() const { return target.substr(0, target.find('?')); }
std::string Reading::query() const {
  const size_t at = target.find('?');
  return at == std::string::npos ? "" : target.substr(at + 1);
}

size_t without_empty_lines(const std::string &bytes, size_t at) {
  while (bytes.compare(at, 2, "\r\n") == 0) at += 2;
  return at;
}

std::optional<Reading> read_head(const std::string &head) {
  Reading made;
  if (head.size() < 4 || head.find("\r\n\r\n") != head.size() - 4) return {};
  std::vector<std::string> lines;
  for (size_t from = 0; from < head.size() - 2;) {
    const size_t to = head.find("\r\n", from);
    lines.push_back(head.substr(from, to - from));
    from = to + 2;
  }
  const std::vector<std::string> words = split(lines[0], ' ');
  if (words.size() != 3 || !is_name(words[0]) || words[1].empty()) return {};
  for (const char c : words[1]) {
    if (static_cast<unsigned char>(c) < 33 || c == 127) return {};
  }
  made.version = words[2];
  if (made.version.size() != 8 || made.version.substr(0, 7) != "HTTP/1." || made.version[7] < '0' || made.version[7] > '9') return {};
  made.method = words[0];
  made.target = words[1];
  if (lower(made.target.substr(0, 7)) == "http://") {
    const std::string rest = made.target.substr(7);
    made.authority = rest.substr(0, rest.find_first_of("/?"));
    made.target = rest.substr(made.authority.size());
    if (made.target.empty() || made.target[0] != '/') made.target = "/" + made.target;
    if (made.authority.empty() || made.authority[0] == ':' || !is_host(made.authority)) return {};
  }
  if (made.target[0] != '/' && (made.target != "*" || made.method != "OPTIONS")) return {};
  for (size_t i = 1; i < lines.size(); i++) {
    const size_t colon = lines[i].find(':');
    if (colon == std::string::npos || !is_name(lines[i].substr(0, colon))) return {};
    const std::string value = lines[i].substr(colon + 1);
    for (const char c : value) {
      if (static_cast<unsigned char>(c) < 32 && c != '\t') return {};
    }
    made.fields.emplace_back(lower(lines[i].substr(0, colon)), trimmed(value));
  }
  const auto lengths = made.all("content-length"), codings = made.all("transfer-encoding");
  if (lengths.size() + codings.size() > 1) return {};
  if (!lengths.empty() && !is_digits(lengths[0])) return {};
  if (!codings.empty() && lower(codings[0]) != "chunked") return {};
  if (made.version == "HTTP/1.0" ? made.all("host").size() > 1 || !codings.empty() : made.all("host").size() != 1) return {};
  for (const std::string &host : made.all("host")) {
    if (!is_host(host)) return {};
  }
  made.chunked = !codings.empty();
  if (!lengths.empty()) made.length = std::stoull(lengths[0]);
  return made;
}

namespace {
bool is_text(char c) { return static_cast<unsigned char>(c) >= 32 || c == '\t'; }

// Parses a body from its beginning.
struct Walk {
  const std::string &bytes;
  size_t at = 0;
  bool malformed = false;

  bool at_end() const { return at == bytes.size(); }
  bool goes_on() const { return !malformed && !at_end(); }
  // False if the bytes end before the text, or differ from it.
  bool expects(const std::string &text) {
    for (const char c : text) {
      if (!goes_on()) return false;
      malformed = bytes[at] != c;
      if (malformed) return false;
      at++;
    }
    return true;
  }
  template <typename Test>
  size_t skip(Test test) {
    const size_t from = at;
    while (!at_end() && test(bytes[at])) at++;
    return at - from;
  }
  // Skips at least one character of the kind. False as above.
  template <typename Test>
  bool expects_some(Test test) {
    if (skip(test) == 0 && !at_end()) malformed = true;
    return goes_on();
  }
};

// Parses the chunks of a body and its trailers. False if it is incomplete or invalid.
bool walk_chunks(Walk &walk, std::string *plain) {
  for (;;) {
    const size_t from = walk.at;
    if (!walk.expects_some([](char c) { return hex(c) >= 0; })) return walk.malformed |= walk.at - from > 8, false;
    const std::string digits = walk.bytes.substr(from, walk.at - from);
    if (digits.size() > 8) return walk.malformed = true, false;
    const size_t blanks = walk.skip([](char c) { return c == ' ' || c == '\t'; });
    if (walk.at_end()) return false;
    if (blanks > 0 || walk.bytes[walk.at] == ';') {
      if (!walk.expects(";")) return false;
      walk.skip(is_text);
    }
    if (!walk.expects("\r\n")) return false;
    *plain += digits + "\r\n";
    const size_t size = std::stoul(digits, nullptr, 16);
    if (size == 0) break;
    if (walk.bytes.size() - walk.at < size) return false;
    *plain += walk.bytes.substr(walk.at, size) + "\r\n";
    walk.at += size;
    if (!walk.expects("\r\n")) return false;
  }
  while (!walk.at_end() && walk.bytes[walk.at] != '\r') {
    if (!walk.expects_some([](char c) { return is_name(std::string(1, c)); }) || !walk.expects(":")) return false;
    walk.skip(is_text);
    if (!walk.expects("\r\n")) return false;
  }
  *plain += "\r\n";
  return walk.expects("\r\n");
}
}  // namespace

std::optional<size_t> body_end(const Reading &head, const std::string &bytes, bool *malformed) {
  *malformed = false;
  if (!head.chunked) return bytes.size() >= head.length ? std::optional<size_t>(head.length) : std::nullopt;
  Walk walk{bytes};
  std::string plain;
  const bool is_whole = walk_chunks(walk, &plain);
  *malformed = walk.malformed;
  return is_whole ? std::optional<size_t>(walk.at) : std::nullopt;
}

std::string plain_body(const Reading &head, const std::string &body) {
  if (!head.chunked) return body;
  Walk walk{body};
  std::string plain;
  walk_chunks(walk, &plain);
  return plain;
}

namespace {
// Decodes base64 by RFC 4648, 4, including padding; empty for any other text.
std::optional<std::string> from_base64(const std::string &text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const size_t padding = std::min(text.find('='), text.size());
  if (text.size() % 4 || text.size() - padding > 2 || text.find_first_not_of('=', padding) != std::string::npos) return {};
  std::string bits, made;
  for (const char c : text.substr(0, padding)) {
    const size_t value = digits.find(c);
    if (value == std::string::npos || c == 0) return {};
    for (int bit = 5; bit >= 0; bit--) bits += value >> bit & 1 ? '1' : '0';
  }
  for (size_t at = 0; at + 8 <= bits.size(); at += 8) made += static_cast<char>(std::stoi(bits.substr(at, 8), nullptr, 2));
  return made;
}

std::set<std::string> passwords_that_are_tokens(const std::string &credentials) {
  const std::optional<std::string> text = from_base64(credentials);
  if (!text) return {"(unreadable)"};
  const size_t colon = text->find(':');
  if (colon == std::string::npos || text->substr(colon + 1, 4) != "bmp_") return {};
  return {text->substr(colon + 1)};
}
}  // namespace

bool has_basic(const Reading &head) {
  const auto values = head.all("authorization");
  return std::any_of(values.begin(), values.end(), [](const std::string &value) { return lower(value.substr(0, 5)) == "basic"; });
}

bool wants_close(const Reading &head) {
  if (head.version == "HTTP/1.0") return true;
  const std::vector<std::string> options = split(lower(head.list("connection")), ',');
  return std::any_of(options.begin(), options.end(), [](const std::string &option) { return trimmed(option) == "close"; });
}

bool wants_close_plainly(const Reading &head) {
  const auto values = head.all("connection");
  return !values.empty() && lower(values[0]) == "close";
}

std::optional<int64_t> seconds_of(const std::string &date) {
  tm parts{};
  if (date.size() != 29 || strptime(date.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts) != date.c_str() + 29) return {};
  return timegm(&parts);
}

std::set<std::string> tokens_of(const Reading &head) {
  std::set<std::string> found;
  for (const std::string &value : head.all("authorization")) {
    const size_t blank = value.find(' ');
    if (lower(value.substr(0, blank)) == "basic" && blank != std::string::npos) found.merge(passwords_that_are_tokens(value.substr(blank + 1)));
    if (lower(value.substr(0, blank)) == "bearer" && blank != std::string::npos) found.insert(trimmed(value.substr(blank)));
  }
  for (const std::string &value : head.all("x-access-token")) found.insert(value);
  for (const std::string &pair : split(head.query(), '&')) {
    const size_t equals = pair.find('=');
    const std::string name = decoded(pair.substr(0, equals));
    if (name == "token" || name == "access_token") found.insert(equals == std::string::npos ? "" : decoded(pair.substr(equals + 1)));
  }
  found.erase("");
  return found;
}

bool accepts_gzip_plainly(const std::string &accept_encoding) {
  bool by_name = false, any = false, named = false;
  for (const std::string &part : split(lower(accept_encoding), ',')) {
    const std::vector<std::string> pieces = split(part, ';');
    const std::string coding = trimmed(pieces[0]);
    bool wanted = true;
    for (size_t i = 1; i < pieces.size(); i++) {
      const std::string weight = trimmed(pieces[i]);
      if (weight.substr(0, 2) == "q=" && weight.find_first_not_of("0.", 2) == std::string::npos) wanted = false;
    }
    if (coding == "gzip" || coding == "x-gzip") named = true, by_name = by_name || wanted;
    if (coding == "*") any = wanted;
  }
  return named ? by_name : any;
}

bool tag_matches(const std::string &if_none_match, const std::string &etag) {
  if (trimmed(if_none_match) == "*") return true;
  for (size_t from = if_none_match.find('"'); from != std::string::npos;) {
    const size_t to = if_none_match.find('"', from + 1);
    if (to == std::string::npos) return false;
    if (if_none_match.substr(from, to - from + 1) == etag) return true;
    from = if_none_match.find('"', to + 1);
  }
  return false;
}

namespace {
std::string check_of(const std::string &text) {
  uint32_t crc = ~0u;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
  }
  crc = ~crc;
  std::string check;
  for (int i = 0; i < 6; i++, crc /= 62) {
    check = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[crc % 62] + check;
  }
  return check;
}
}  // namespace

std::string with_check(const std::string &token) { return token + check_of(token); }

bool token_checks_out(const std::string &token) {
  if (token.size() != 42 || token.substr(0, 4) != "bmp_") return false;
  for (const char c : token.substr(4)) {
    if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))) return false;
  }
  return token == with_check(token.substr(0, 36));
}
