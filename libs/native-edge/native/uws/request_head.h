// What the addon reads of requests: where they begin and end on a connection (HTTP/1.1 message framing, RFC 9112, sections 2 to
// 7.1), and whether one is so plain that it may be answered without uWS (tile_response.h).
//
// The addon hands uWS one request at a time (request_pipeline.h), so it must agree with uWS byte for byte on where a request ends. It accepts
// only what both read alike. uWS 20 is lenient where that is dangerous: it takes any Transfer-Encoding for chunked, the first of
// two Content-Lengths, a chunk extension as digits of the size, and waits for ever for the rest of a malformed head. All of that is
// refused here before uWS sees it. What is right, but misread by uWS, is given to it in a form that it reads: addresses with a host, chunk extensions,
// trailers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

enum class Refusal { None, BadRequest, TargetTooLong, HeadTooLarge, Version };

// Limit: the longest request head that is held while it arrives. uWS itself refuses more than 4 KB (UWS_HTTP_MAX_HEADERS_SIZE raises
// that), so this only has to stand above.
constexpr size_t kMaxHead = 16 * 1024;
// Limit: of a request line in a head that is too long. A longer one is what is to blame (RFC 9112, 3). As MAX_ADDRESS of services/edge/src/http/exchange.ts.
constexpr size_t kMaxRequestLine = 8 * 1024;

struct RequestHead {
  Refusal refusal = Refusal::None;
  bool chunked = false;
  uint64_t length = 0;  // of the body, where it is not chunked

  // A GET or HEAD without body and without any field that could change the answer, but for those kept here.
  bool plain = false;
  bool is_head = false;
  // A GET or HEAD of a probe in HTTP/1.0, without body. Nothing else is answered in that version.
  bool old_probe = false;
  // OPTIONS of the server as a whole, whose target is an asterisk (RFC 9112, 3.2.4).
  bool is_of_server = false;
  // It is not in the form that uWS reads alike: its target names the host, or its version is one above 1.1 (RFC 9112, 2.3).
  bool other_form = false;
  std::string_view whole;  // the empty line included
  std::string_view method;
  std::string_view target;     // path and query; without a slash in front where an address has no path
  std::string_view authority;  // the host that the target names, which counts in place of the field (RFC 9112, 3.2.2); else data is null
  std::string_view authorization;    // empty also where the field is missing
  std::string_view x_access_token;
  std::string_view accept_encoding;
  std::string_view if_none_match;
  std::string_view sec_fetch_dest, sec_fetch_mode;
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

// A head as uWS reads it: the same request in the origin form of HTTP/1.1, and, where the client wants the connection to end, with that said in
// front in the form that uWS understands. Not for what the addon answers itself.
std::string in_plain_form(const RequestHead &request, std::string_view head);

// The body of one request, as it passes by.
class BodyCursor {
 public:
  void begin(const RequestHead &head);
  bool active() const { return state_ != State::Done; }
  // How many of the bytes belong to this body, up to some that uWS must not see. `malformed` is set where the chunked coding is broken.
  size_t take(const char *data, size_t length, bool *malformed);
  // How many of the bytes are chunk extensions or trailers. Nobody here has a use for them, which a server may say by ignoring them (RFC 9112, 7.1.1 and
  // 7.1.2), and uWS takes them for digits and requests.
  size_t skip(const char *data, size_t length, bool *malformed);

 private:
  enum class State { Done, Plain, SizeFirst, Size, SizeCr, SizeLf, Data, DataCr, DataLf, EndFirst, EndCr, EndLf, ExtensionFirst, Extension, TrailerName, TrailerValue, TrailerLf, TrailerEnd };
  bool step(char c);
  bool skip_step(char c);
  bool is_skipping() const { return state_ >= State::ExtensionFirst; }
  State state_ = State::Done;
  uint64_t left_ = 0;  // of the plain body or the current chunk
  int digits_ = 0;
  size_t skipped_ = 0;
};
