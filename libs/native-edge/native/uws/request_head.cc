#include "request_head.h"

#include <string.h>
#include <strings.h>

#include <algorithm>
#include <string>

namespace {
constexpr int kMaxLengthDigits = 18;  // the most that uWS reads; uWS also refuses a longer Content-Length
constexpr int kMaxFields = 95;        // uWS holds 99 with the request line, and refuses more in its own form; in_plain_form may add three
constexpr int kMaxChunkDigits = 8;    // chunks of up to 4 GB; uWS overflows at 15

struct TokenTable {
  bool is_token[256] = {};
  constexpr TokenTable() {
    for (int c = '0'; c <= '9'; c++) is_token[c] = true;
    for (int c = 'A'; c <= 'Z'; c++) is_token[c] = is_token[c + 32] = true;
    for (char c : std::string_view("!#$%&'*+-.^_`|~")) is_token[static_cast<unsigned char>(c)] = true;
  }
};
constexpr TokenTable kToken;

bool is_token(char c) { return kToken.is_token[static_cast<unsigned char>(c)]; }

// Eight bytes at a time, on any processor: a request has some 150 bytes that only need a check for forbidden ones.
constexpr uint64_t kEach = 0x0101010101010101u;
uint64_t eight_bytes(const char *p) {
  uint64_t bytes;
  memcpy(&bytes, p, sizeof bytes);
  return bytes;
}
// Marks the bytes below a limit of up to 128. The lowest mark is correct; marks above it may be wrong.
uint64_t below(uint64_t bytes, unsigned char limit) { return (bytes - kEach * limit) & ~bytes & kEach * 0x80; }
// Returns the number of bytes in memory before the first mark, if the byte order allows it; otherwise 0.
size_t before_first(uint64_t marks) { return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? static_cast<size_t>(__builtin_ctzll(marks)) / 8 : 0; }

// Returns the first byte that `mark` marks, or the beginning of the last seven.
template <typename Mark>
const char *skip_unmarked(const char *p, const char *end, Mark mark) {
  for (; end - p >= 8; p += 8) {
    if (const uint64_t marks = mark(eight_bytes(p))) return p + before_first(marks);
  }
  return p;
}

// Returns the end of the characters that a target may contain: visible ones, and bytes above 127.
const char *skip_target(const char *p, const char *end) {
  p = skip_unmarked(p, end, [](uint64_t bytes) { return below(bytes, ' ' + 1) | below(bytes ^ kEach * 127, 1); });
  while (p < end && static_cast<unsigned char>(*p) > ' ' && *p != 127) p++;
  return p;
}

// Returns the end of the characters that a field's value may contain. A head always ends with other characters.
const char *skip_value(const char *p, const char *end) {
  p = skip_unmarked(p, end, [](uint64_t bytes) { return below(bytes, ' '); });
  while (static_cast<unsigned char>(*p) >= ' ' || *p == '\t') p++;
  return p;
}

bool equals(std::string_view text, std::string_view lower_case) {
  return text.size() == lower_case.size() && strncasecmp(text.data(), lower_case.data(), text.size()) == 0;
}

// True for characters of a host (RFC 3986, 3.2.2): of a name, and between the brackets of an address.
bool is_host_character(char c) {
  return c != '#' && c != '^' && c != '`' && c != '|' && (is_token(c) || std::string_view("(),;=:").find(c) != std::string_view::npos);
}

// True for uri-host [":" port] (RFC 9110, 7.2). An empty host is valid.
bool is_host(std::string_view text) {
  const size_t colon = text.find_last_not_of("0123456789");
  if (colon != std::string_view::npos && text[colon] == ':') text = text.substr(0, colon);
  const bool is_address = !text.empty() && text.front() == '[';
  if (is_address && (text.size() < 3 || text.back() != ']')) return false;
  if (is_address) text = text.substr(1, text.size() - 2);
  return std::all_of(text.begin(), text.end(), is_host_character) && (is_address || text.find(':') == std::string_view::npos);
}

// The last host that was checked: most clients of a server send the same one.
constexpr size_t kMaxKnownHost = 64;
char known_host[kMaxKnownHost];
size_t known_host_size = 0;

[[gnu::noinline, gnu::cold]] bool learn_host(std::string_view text) {
  if (!is_host(text)) return false;
  if (text.size() <= kMaxKnownHost) known_host_size = text.copy(known_host, kMaxKnownHost);
  return true;
}

bool is_known_host(std::string_view text) {
  return (text.size() == known_host_size && !memcmp(text.data(), known_host, known_host_size)) || learn_host(text);
}

// Reads a target that is not a path: "http://host/path?query", or the "*" of OPTIONS. False if a server cannot be asked for it.
[[gnu::noinline, gnu::cold]] bool read_other_form(RequestHead *head) {
  constexpr std::string_view scheme = "http://";
  if (head->target == "*") return head->is_of_server = head->method == "OPTIONS";
  if (!equals(head->target.substr(0, scheme.size()), scheme)) return false;
  const std::string_view rest = head->target.substr(scheme.size());
  head->authority = rest.substr(0, std::min(rest.find_first_of("/?"), rest.size()));
  head->target = rest.substr(head->authority.size());
  head->plain = head->plain && !head->target.empty() && head->target.front() == '/';
  head->other_form = true;
  return !head->authority.empty() && head->authority.front() != ':' && is_host(head->authority);
}

// Reads a version other than 1.1. False if the server must not answer it.
[[gnu::noinline, gnu::cold]] bool read_other_version(std::string_view version, RequestHead *head) {
  const bool is_one = version.substr(0, 2) == "1." && version[2] >= '0' && version[2] <= '9';
  head->is_old = head->closes = version == "1.0";
  head->other_form |= is_one;
  return is_one;
}

// Reads "GET /path HTTP/1.1". Returns the position behind it, or null with a refusal.
const char *read_request_line(const char *p, const char *end, RequestHead *head) {
  head->refusal = Refusal::BadRequest;
  const char *method = p;
  while (p < end && is_token(*p)) p++;
  if (p == method || end - p < 2 || p[0] != ' ') return nullptr;
  head->method = {method, static_cast<size_t>(p - method)};
  head->is_head = head->method == "HEAD";
  head->plain = head->is_head || head->method == "GET";
  const char *target = ++p;
  p = skip_target(p, end);
  head->target = {target, static_cast<size_t>(p - target)};
  if (*target != '/' && !read_other_form(head)) return nullptr;
  constexpr std::string_view version = " HTTP/1.1\r\n";
  if (static_cast<size_t>(end - p) < version.size() || memcmp(p, " HTTP/", 6) || memcmp(p + 9, "\r\n", 2)) return nullptr;
  if (memcmp(p, version.data(), version.size())) {
    head->refusal = Refusal::Version;
    if (!read_other_version({p + 6, 3}, head)) return nullptr;
  }
  return p + version.size();
}

bool read_length(std::string_view value, uint64_t *length) {
  if (value.empty() || value.size() > kMaxLengthDigits) return false;
  *length = 0;
  for (char c : value) {
    if (c < '0' || c > '9') return false;
    *length = *length * 10 + static_cast<uint64_t>(c - '0');
  }
  return true;
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Keeps the value of a field that must not be repeated in a plain request. An empty value counts as missing.
void keep(std::string_view value, std::string_view *place, RequestHead *head) {
  if (place->data()) head->plain = false;
  *place = value;
}

// Like `keep`, for a field that must have one value. False if an earlier field had another value, even an empty one: uWS shows only the first to
// JavaScript. A repetition of the same value is accepted.
bool keep_one(std::string_view value, std::string_view *place, RequestHead *head) {
  if (place->data()) return value == *place;
  keep(value, place, head);
  return true;
}

// True if a list of connection options contains "close" (RFC 9112, 7.6.1).
bool has_close(std::string_view options) {
  for (;;) {
    const size_t comma = std::min(options.find(','), options.size());
    if (equals(trim(options.substr(0, comma)), "close")) return true;
    if (comma == options.size()) return false;
    options.remove_prefix(comma + 1);
  }
}

// Counts that are collected before a head can be judged.
struct Seen {
  int hosts = 0, framings = 0, fields = 0, connections = 0;
};

// Ignores the other options: they name fields that a proxy may drop, and this server is not a proxy.
void note_connection(std::string_view value, RequestHead *head, Seen *seen) {
  if (++seen->connections == 1) head->closes_plainly = equals(value, "close");
  head->closes = head->closes || has_close(value);
}

// Records one field. False if the request must be refused.
bool read_field(std::string_view key, std::string_view value, RequestHead *head, Seen *seen) {
  switch (key.front() | 0x20) {
    case 'h':
      if (!equals(key, "host")) return true;
      seen->hosts++;
      return is_known_host(value);
    case 'a':
      if (equals(key, "authorization")) return keep_one(value, &head->authorization, head);
      if (equals(key, "accept-encoding")) keep(value, &head->accept_encoding, head);
      return true;
    case 'x':
      if (equals(key, "x-access-token")) return keep_one(value, &head->x_access_token, head);
      return true;
    case 'i':
      if (equals(key, "if-none-match")) keep(value, &head->if_none_match, head);
      else if (equals(key, "if-modified-since")) keep(value, &head->if_modified_since, head);
      else if (key.size() > 3 && equals(key.substr(0, 3), "if-")) head->plain = false;
      return true;
    case 's':
      if (equals(key, "sec-fetch-dest")) keep(value, &head->sec_fetch_dest, head);
      else if (equals(key, "sec-fetch-mode")) keep(value, &head->sec_fetch_mode, head);
      return true;
    case 'e':
      if (equals(key, "expect")) head->plain = false;
      return true;
    case 'u':
      if (equals(key, "upgrade")) head->plain = false;
      return true;
    case 'c':
      if (equals(key, "connection")) note_connection(value, head, seen);
      if (!equals(key, "content-length")) return true;
      head->plain = false;
      seen->framings++;
      return read_length(value, &head->length);
    case 't':
      if (!equals(key, "transfer-encoding")) return true;
      head->plain = false;
      seen->framings++;
      head->chunked = true;
      return equals(value, "chunked");
    default:
      return true;
  }
}
}  // namespace

bool may_begin_head(char c) { return is_token(c); }

RequestHead read_request_head(const char *data, size_t size) {
  RequestHead head;
  head.whole = {data, size};
  const char *end = data + size - 2;  // the head ends in an empty line
  const char *p = read_request_line(data, data + size, &head);
  if (!p) return head;
  head.refusal = Refusal::BadRequest;
  if (p == end && !head.is_old) return head;  // uWS would wait for the first field for ever
  Seen seen;
  while (p < end) {
    if (++seen.fields > kMaxFields) {
      head.refusal = Refusal::HeadTooLarge;
      return head;
    }
    const char *name = p;
    while (is_token(*p)) p++;
    if (p == name || *p != ':') return head;  // a missing name, a space before the colon, a folded line
    const std::string_view key(name, static_cast<size_t>(p - name));
    const char *from = ++p;
    p = skip_value(p, end);
    if (p[0] != '\r' || p[1] != '\n') return head;  // a control character
    if (!read_field(key, trim({from, static_cast<size_t>(p - from)}), &head, &seen)) return head;
    p += 2;
  }
  if (p != end || seen.framings > 1) return head;
  // A coding that HTTP/1.0 does not have is framed wrongly (RFC 9112, 6.1).
  if (seen.hosts > 1 || (head.is_old ? head.chunked : seen.hosts == 0)) return head;
  head.has_host = seen.hosts == 1;
  head.refusal = Refusal::None;
  return head;
}

std::string in_plain_form(const RequestHead &request, std::string_view head) {
  std::string made(request.method);
  made.append(request.target.empty() || request.target.front() != '/' ? " /" : " ").append(request.target).append(" HTTP/1.1\r\n");
  if (request.closes && !request.closes_plainly) made.append("Connection: close\r\n");
  if (request.authority.data()) made.append("Host: ").append(request.authority).append("\r\n");
  else if (!request.has_host) made.append("Host: unnamed\r\n");
  if (request.is_old) made.append("x-http-version: 1.0\r\n");
  for (size_t from = head.find('\n') + 1; from < head.size();) {
    const std::string_view line = head.substr(from, head.find('\n', from) + 1 - from);
    if (!request.authority.data() || !equals(line.substr(0, 5), "host:")) made.append(line);
    from += line.size();
  }
  return made;
}

void BodyCursor::begin(const RequestHead &head) {
  left_ = head.length;
  digits_ = 0;
  skipped_ = 0;
  if (head.chunked) state_ = State::SizeFirst;
  else state_ = left_ ? State::Plain : State::Done;
}

size_t BodyCursor::take(const char *data, size_t length, bool *malformed) {
  *malformed = false;
  size_t taken = 0;
  while (taken < length && active()) {
    if (state_ == State::Plain || state_ == State::Data) {
      const size_t n = static_cast<size_t>(std::min<uint64_t>(left_, length - taken));
      left_ -= n;
      taken += n;
      if (!left_) state_ = state_ == State::Plain ? State::Done : State::DataCr;
    } else if (!step(data[taken])) {
      *malformed = true;
      return taken;
    } else if (is_skipping()) {
      return taken;
    } else {
      taken++;
    }
  }
  return taken;
}

size_t BodyCursor::skip(const char *data, size_t length, bool *malformed) {
  *malformed = false;
  size_t count = 0;
  for (; count < length && is_skipping(); count++) {
    *malformed = ++skipped_ > kMaxHead || !skip_step(data[count]);
    // The byte that ends them belongs to uWS again.
    if (*malformed || !is_skipping()) return count;
  }
  return count;
}

// Reads one byte of the chunked coding outside of chunk data. False for the first byte of an extension or a trailer.
bool BodyCursor::step(char c) {
  const int digit = hex_value(c);
  switch (state_) {
    case State::SizeFirst:
      left_ = 0;
      digits_ = 0;
      if (digit < 0) return false;
      [[fallthrough]];
    case State::Size:
      if (digit >= 0) {
        left_ = left_ * 16 + static_cast<uint64_t>(digit);
        state_ = State::Size;
        return ++digits_ <= kMaxChunkDigits;
      }
      if (c == ';' || c == ' ' || c == '\t') {
        state_ = State::ExtensionFirst;
        return true;
      }
      [[fallthrough]];
    case State::SizeCr:
      state_ = State::SizeLf;
      return c == '\r';
    case State::SizeLf:
      state_ = left_ ? State::Data : State::EndFirst;
      return c == '\n';
    case State::DataCr:
      state_ = State::DataLf;
      return c == '\r';
    case State::DataLf:
      state_ = State::SizeFirst;
      return c == '\n';
    case State::EndFirst:
      if (is_token(c)) {
        state_ = State::TrailerName;
        return true;
      }
      [[fallthrough]];
    case State::EndCr:
      state_ = State::EndLf;
      return c == '\r';
    case State::EndLf:
      state_ = State::Done;
      return c == '\n';
    default:
      return false;
  }
}

// Reads one byte of an extension or a trailer, or the byte after it.
bool BodyCursor::skip_step(char c) {
  const bool is_text = static_cast<unsigned char>(c) >= ' ' || c == '\t';
  switch (state_) {
    case State::ExtensionFirst:
      if (c == ';') state_ = State::Extension;
      return c == ';' || c == ' ' || c == '\t';
    case State::Extension:
      if (c == '\r') state_ = State::SizeCr;
      return is_text || c == '\r';
    case State::TrailerName:
      if (c == ':') state_ = State::TrailerValue;
      return is_token(c) || c == ':';
    case State::TrailerValue:
      if (c == '\r') state_ = State::TrailerLf;
      return is_text || c == '\r';
    case State::TrailerLf:
      state_ = State::TrailerEnd;
      return c == '\n';
    default:
      state_ = c == '\r' ? State::EndCr : State::TrailerName;
      return is_token(c) || c == '\r';
  }
}
