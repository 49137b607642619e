// What the addon reads of requests: where they begin and end on a connection (HTTP/1.1 message framing, RFC 9112, sections 2 to
// 7.1), and whether one is so plain that it may be answered without uWS (tile_response.h).
//
// The addon hands uWS one request at a time (feed.h), so it must agree with uWS byte for byte on where a request ends. It accepts
// only what both read alike. uWS 20 is lenient where that is dangerous: it takes any Transfer-Encoding for chunked, the first of
// two Content-Lengths, a chunk extension as digits of the size, and waits for ever for the rest of a malformed head. All of that is
// refused here before uWS sees it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

enum class Refusal { None, BadRequest, HeadTooLarge, Version };

// Limit: the longest request head that is held while it arrives. uWS itself refuses more than 4 KB (UWS_HTTP_MAX_HEADERS_SIZE raises
// that), so this only has to stand above.
constexpr size_t kMaxHead = 16 * 1024;

struct RequestHead {
  Refusal refusal = Refusal::None;
  bool chunked = false;
  uint64_t length = 0;  // of the body, where it is not chunked

  // A GET or HEAD without body and without any field that could change the answer, but for those kept here.
  bool plain = false;
  bool is_head = false;
  // A GET or HEAD of a probe in HTTP/1.0, without body. Nothing else is answered in that version.
  bool old_probe = false;
  std::string_view method;
  std::string_view target;
  std::string_view authorization;    // empty also where the field is missing
  std::string_view x_access_token;
  std::string_view accept_encoding;
  std::string_view if_none_match;
  std::string_view if_modified_since;
  // The client wants the connection to end with the answer (RFC 9112, 9.6): "close" is among its connection options.
  bool closes = false;
  // And the first Connection field says nothing else, which is the one form that uWS understands.
  bool closes_plainly = false;
};

// Whether a head may begin so: with a method, that is a token (RFC 9110, 5.6.2).
bool may_begin_head(char c);

// A field's value without the blanks and tabs around it.
inline std::string_view trim(std::string_view value) {
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
  return value;
}

// Judges a complete head, the empty line included. The views point into it.
RequestHead read_request_head(const char *head, size_t length);

// The body of one request, as it passes by.
class BodyCursor {
 public:
  void begin(const RequestHead &head);
  bool active() const { return state_ != State::Done; }
  // How many of the bytes belong to this body. `malformed` is set where the chunked coding is broken.
  size_t take(const char *data, size_t length, bool *malformed);

 private:
  enum class State { Done, Plain, SizeFirst, Size, SizeLf, Data, DataCr, DataLf, EndCr, EndLf };
  bool step(char c);
  State state_ = State::Done;
  uint64_t left_ = 0;  // of the plain body or the current chunk
  int digits_ = 0;
};
