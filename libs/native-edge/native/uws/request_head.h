// Parses as much of requests as the addon needs: where they begin and end on a connection (HTTP/1.1 message framing, RFC 9112, sections 2 to 7.1),
// and whether a request is so plain that it may be answered without uWS (tile_response.h).
//
// The addon passes one request at a time to uWS (request_pipeline.h), so both must agree byte for byte on where a request ends. The addon accepts
// only requests that both read alike. uWS 20 is lenient where that is dangerous: it reads any Transfer-Encoding as chunked, uses the first of two
// Content-Lengths, reads a chunk extension as digits of the size, and waits for ever for the rest of a malformed head. All such requests are refused
// here before uWS sees them. Valid requests that uWS misreads are passed to it in a form that it reads: addresses with a host, chunk extensions,
// trailers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

enum class Refusal { None, BadRequest, TargetTooLong, HeadTooLarge, Version };

// Limit: bytes of a request head that is held while it arrives. uWS itself refuses more than 4 KB (UWS_HTTP_MAX_HEADERS_SIZE raises that), so this
// only has to be larger.
constexpr size_t kMaxHead = 16 * 1024;
// Limit: bytes of the request line in a head that is too long. If the line is longer, it is the cause of the refusal (RFC 9112, 3). Equal to
// MAX_ADDRESS of services/edge/src/http/request-context.ts.
constexpr size_t kMaxRequestLine = 8 * 1024;

struct RequestHead {
  Refusal refusal = Refusal::None;
  bool chunked = false;
  uint64_t length = 0;  // of the body, if it is not chunked

  // True for a GET or HEAD without body and without any field that could change the response, except those kept here.
  bool plain = false;
  bool is_head = false;
  // True for HTTP/1.0 (RFC 9112, C.2.2): its connection ends after the response, which is never chunked. `closes` is true, too.
  bool is_old = false;
  bool has_host = false;  // the field; HTTP/1.0 does not demand it
  // True for OPTIONS of the server as a whole, whose target is an asterisk (RFC 9112, 3.2.4).
  bool is_of_server = false;
  // True if the request is in a form that uWS misreads: its target names the host, or its version is not 1.1 (RFC 9112, 2.3).
  bool other_form = false;
  std::string_view whole;  // including the empty line
  std::string_view method;
  std::string_view target;     // path and query; without a slash at the beginning if an address has no path
  std::string_view authority;  // host named by the target, which overrides the field (RFC 9112, 3.2.2); otherwise data is null
  std::string_view authorization;    // empty also if the field is missing
  std::string_view x_access_token;
  std::string_view accept_encoding;
  std::string_view if_none_match;
  std::string_view sec_fetch_dest, sec_fetch_mode;
  std::string_view if_modified_since;
  // True if the client asks to close the connection after the response (RFC 9112, 9.6): "close" is among its connection options.
  bool closes = false;
  // True if in addition the first Connection field contains nothing else, the only form that uWS understands.
  bool closes_plainly = false;
};

// True if a head may begin with this character of a method, which is a token (RFC 9110, 5.6.2).
bool may_begin_head(char c);

// Returns a field's value without surrounding spaces and tabs.
inline std::string_view trim(std::string_view value) {
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
  return value;
}

// Parses a complete head, including the empty line. The views point into it.
RequestHead read_request_head(const char *head, size_t length);

// Returns the head in a form that uWS reads: the same request in the origin form of HTTP/1.1, and, if the client asks to close the connection, with
// that field at the beginning in the form that uWS understands. A request in HTTP/1.0 gets a Host if it has none, and the field by which JavaScript
// knows the version (`VERSION_FIELD` in src/transfer/types.ts). Not for requests that the addon answers itself.
std::string in_plain_form(const RequestHead &request, std::string_view head);

// Tracks the body of one request as it passes through.
class BodyCursor {
 public:
  void begin(const RequestHead &head);
  bool active() const { return state_ != State::Done; }
  // Returns how many of the bytes belong to this body, up to the first that uWS must not see. `malformed` is set if the chunked coding is invalid.
  size_t take(const char *data, size_t length, bool *malformed);
  // Returns how many of the bytes are chunk extensions or trailers. A server that does not use them may ignore them (RFC 9112, 7.1.1 and 7.1.2),
  // while uWS would read them as digits and requests.
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
