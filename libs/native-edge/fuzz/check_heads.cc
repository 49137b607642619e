#include <string.h>

#include <memory>

#include "../native/uws/request_head.h"
#include "../native/hot_tiles/token_form.h"
#include "check.h"
#include "reading.h"
#include "requests.h"

namespace {
Subjects subjects_of(Choices &choices) {
  Subjects subjects;
  subjects.targets = {"/tiles/alps/v1/3/4/5.png", "/tiles/alps/current/0/0/0.png", "/tiles/alps/3/4/5.png"};
  for (int i = 0; i < 3; i++) subjects.tokens.push_back(with_check("bmp_" + choices.text(32, "0123456789ABCXYZabcxyz")));
  subjects.etags = {"\"1a-2b\""};
  subjects.dates = {"Sun, 06 Nov 1994 08:49:37 GMT"};
  return subjects;
}

// Checks the one value of a field, which may be repeated; empty also if the field is missing.
void check_value(std::string_view value, const Reading &reading, const std::string &name, const std::string &bytes) {
  const auto values = reading.all(name);
  REQUIRE(!values.empty() || value.empty(), shown(bytes));
  for (const std::string &one : values) REQUIRE(one == value, shown(bytes));
}

void check_plain(const RequestHead &head, const Reading &reading, const std::string &bytes) {
  REQUIRE(reading.method == (head.is_head ? "HEAD" : "GET"), shown(bytes));
  for (const char *name : {"content-length", "transfer-encoding", "expect", "upgrade", "if-match", "if-range", "if-unmodified-since"}) {
    REQUIRE(reading.all(name).empty(), shown(bytes));
  }
  check_value(head.authorization, reading, "authorization", bytes);
  check_value(head.x_access_token, reading, "x-access-token", bytes);
  REQUIRE(head.accept_encoding == reading.list("accept-encoding"), shown(bytes));
  REQUIRE(head.if_none_match == reading.list("if-none-match"), shown(bytes));
  REQUIRE(head.if_modified_since == reading.list("if-modified-since"), shown(bytes));
}

void check_head(const Made &made, const std::string &bytes) {
  // Exactly as long as the head, so that the address sanitizer detects reads beyond its end.
  const std::unique_ptr<char[]> memory(new char[bytes.size()]);
  memcpy(memory.get(), bytes.data(), bytes.size());
  const RequestHead head = read_request_head(memory.get(), bytes.size());
  const std::optional<Reading> reading = read_head(bytes);
  if (made.canonical) REQUIRE(head.refusal == Refusal::None && head.plain, shown(bytes));
  if (head.refusal != Refusal::None) return;
  REQUIRE(reading.has_value(), shown(bytes));
  REQUIRE((head.target.substr(0, 1) == "/" || head.is_of_server ? "" : "/") + std::string(head.target) == reading->target, shown(bytes));
  REQUIRE(head.authority == reading->authority, shown(bytes));
  REQUIRE(head.is_of_server == (reading->target == "*"), shown(bytes));
  REQUIRE(head.chunked == reading->chunked, shown(bytes));
  REQUIRE(head.chunked || head.length == reading->length, shown(bytes));
  REQUIRE(head.closes == wants_close(*reading), shown(bytes));
  REQUIRE(head.closes_plainly == wants_close_plainly(*reading), shown(bytes));
  if (head.plain) check_plain(head, *reading, bytes);
}

// Returns how many bytes a body takes in pieces of these sizes; `malformed` is set as by BodyCursor.
size_t taken(Choices &choices, const RequestHead &head, const std::string &bytes, size_t longest_piece, bool *malformed, bool *active) {
  BodyCursor body;
  body.begin(head);
  size_t at = 0;
  *malformed = false;
  while (at < bytes.size() && body.active() && !*malformed) {
    const size_t length = std::min(bytes.size() - at, choices.below(longest_piece) + 1);
    const std::unique_ptr<char[]> piece(new char[length]);
    memcpy(piece.get(), bytes.data() + at, length);
    for (size_t in_piece = 0; in_piece < length && body.active() && !*malformed;) {
      const size_t skipped = body.skip(piece.get() + in_piece, length - in_piece, malformed);
      if (*malformed) break;
      const size_t took = body.take(piece.get() + in_piece + skipped, length - in_piece - skipped, malformed);
      in_piece += skipped + took;
      at += skipped + took;
      REQUIRE(in_piece <= length, shown(bytes));
    }
  }
  *active = body.active();
  return at;
}

void check_body(Choices &choices, const std::string &head_bytes, const std::string &bytes) {
  const RequestHead head = read_request_head(head_bytes.data(), head_bytes.size());
  const std::optional<Reading> reading = read_head(head_bytes);
  if (head.refusal != Refusal::None || !reading) return;
  bool is_malformed = false;
  const std::optional<size_t> end = body_end(*reading, bytes, &is_malformed);
  for (const size_t longest_piece : {bytes.size() + 1, size_t{1}, size_t{7}}) {
    bool malformed = false, active = false;
    const size_t took = taken(choices, head, bytes, longest_piece, &malformed, &active);
    REQUIRE(malformed == is_malformed, shown(head_bytes + bytes));
    if (end) REQUIRE(took == *end && !active, shown(head_bytes + bytes));
    if (!end && !is_malformed) REQUIRE(took == bytes.size() && active, shown(head_bytes + bytes));
  }
}

void check_token(Choices &choices, std::string token) {
  if (choices.once_in(2)) token[choices.below(token.size())] = choices.text(1, choices.once_in(2) ? "abcXYZ019_" : "")[0];
  if (choices.once_in(8)) token = choices.text(choices.below(60));
  REQUIRE(is_well_formed_token(token) == token_checks_out(token), shown(token));
  REQUIRE(!is_well_formed_token(token) || is_plain_text(token), shown(token));
}
}  // namespace

void check_heads(Choices &choices) {
  const Subjects subjects = subjects_of(choices);
  const Made made = make_request(choices, subjects);
  check_token(choices, choices.of(subjects.tokens));
  const size_t from = without_empty_lines(made.bytes, 0), end = made.bytes.find("\r\n\r\n", from);
  if (end == std::string::npos) return;
  const std::string head = made.bytes.substr(from, end + 4 - from);
  check_head(made, head);
  check_body(choices, head, made.bytes.substr(end + 4) + "GET / HTTP/1.1\r\n");
}
