#include "request_framing.h"

#include <string.h>
#include <strings.h>

#include <algorithm>
#include <string_view>

namespace {
constexpr int kMaxLengthDigits = 18;  // what uWS reads; a longer Content-Length is refused by both
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

bool equals(std::string_view text, std::string_view lower_case) {
  return text.size() == lower_case.size() && strncasecmp(text.data(), lower_case.data(), text.size()) == 0;
}

std::string_view trim(std::string_view value) {
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
  return value;
}

// "GET /path HTTP/1.1": what follows it, or a refusal. Only the origin form of the target is taken, as uWS does.
const char *read_request_line(const char *p, const char *end, Refusal *refusal) {
  *refusal = Refusal::BadRequest;
  const char *method = p;
  while (p < end && is_token(*p)) p++;
  if (p == method || end - p < 2 || p[0] != ' ' || p[1] != '/') return nullptr;
  p++;
  while (p < end && static_cast<unsigned char>(*p) > ' ' && *p != 127) p++;
  constexpr std::string_view version = " HTTP/1.1\r\n";
  if (static_cast<size_t>(end - p) < version.size() || memcmp(p, " HTTP/", 6) || memcmp(p + 9, "\r\n", 2)) return nullptr;
  if (memcmp(p, version.data(), version.size())) {
    *refusal = Refusal::Version;
    return nullptr;
  }
  *refusal = Refusal::None;
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
}  // namespace

Framing read_framing(const char *head, size_t size) {
  Framing framing;
  const char *end = head + size - 2;  // the head ends in an empty line
  const char *p = read_request_line(head, head + size, &framing.refusal);
  if (!p) return framing;
  framing.refusal = Refusal::BadRequest;
  if (p == end) return framing;  // uWS waits for ever for the first field
  int lengths = 0, encodings = 0;
  while (p < end) {
    const char *name = p;
    while (is_token(*p)) p++;
    if (p == name || *p != ':') return framing;  // no name, a space before the colon, a folded line
    const std::string_view key(name, static_cast<size_t>(p - name));
    const char *from = ++p;
    while (static_cast<unsigned char>(*p) >= ' ' || *p == '\t') p++;
    if (p[0] != '\r' || p[1] != '\n') return framing;  // a control character
    const std::string_view value = trim({from, static_cast<size_t>(p - from)});
    p += 2;
    if (equals(key, "content-length")) {
      lengths++;
      if (!read_length(value, &framing.length)) return framing;
    } else if (equals(key, "transfer-encoding")) {
      encodings++;
      framing.chunked = true;
      if (!equals(value, "chunked")) return framing;
    }
  }
  if (p != end || lengths + encodings > 1) return framing;
  framing.refusal = Refusal::None;
  return framing;
}

void BodyCursor::begin(const Framing &framing) {
  left_ = framing.length;
  digits_ = 0;
  if (framing.chunked) state_ = State::SizeFirst;
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
    } else if (step(data[taken])) {
      taken++;
    } else {
      *malformed = true;
      return taken;
    }
  }
  return taken;
}

// One byte of the chunked coding outside of chunk data. Extensions and trailers are refused: uWS 20 misreads both.
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
      state_ = State::SizeLf;
      return c == '\r';
    case State::SizeLf:
      state_ = left_ ? State::Data : State::EndCr;
      return c == '\n';
    case State::DataCr:
      state_ = State::DataLf;
      return c == '\r';
    case State::DataLf:
      state_ = State::SizeFirst;
      return c == '\n';
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
