// The meaning of requests, parsed as plainly as the standards say it and without regard to speed, for comparison with the addon's parser. It
// shares no code with the addon.
#pragma once
#include <stdint.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

struct Reading {
  std::string method, target;  // the target without a host that it names
  std::string authority;       // that host, or empty
  std::string version;         // "HTTP/1.1"
  std::vector<std::pair<std::string, std::string>> fields;  // names in lower case, values trimmed
  bool chunked = false;
  uint64_t length = 0;

  std::vector<std::string> all(const std::string &name) const;
  // Returns all values of a list field as one (RFC 9110, 5.3).
  std::string list(const std::string &name) const;
  std::string path() const;
  std::string query() const;
};

// Parses by RFC 9112, 2 to 6, without leniency. Empty if the head, including the empty line, is not valid.
std::optional<Reading> read_head(const std::string &head);

// Returns the beginning of a request that may follow empty lines (RFC 9112, 2.2).
size_t without_empty_lines(const std::string &bytes, size_t at);

// Returns the bytes of a body by the same standard, or nothing if it is not complete. `malformed` is set if it can never be complete.
std::optional<size_t> body_end(const Reading &head, const std::string &bytes, bool *malformed);

// Returns a whole body without chunk extensions and trailers.
std::string plain_body(const Reading &head, const std::string &body);

// Returns every token that a request carries in any of its places (interface.md, "Service tokens"; the password of Basic). Invalid base64
// counts as a separate token that does not exist.
std::set<std::string> tokens_of(const Reading &head);
bool has_basic(const Reading &head);
// The first follows RFC 9112, 9.6. The second is true if the first Connection field contains nothing else.
bool wants_close(const Reading &head);
bool wants_close_plainly(const Reading &head);

bool accepts_gzip_plainly(const std::string &accept_encoding);
bool tag_matches(const std::string &if_none_match, const std::string &etag);
// Parses an IMF-fixdate (RFC 9110, 5.6.7) as seconds since 1970.
std::optional<int64_t> seconds_of(const std::string &date);
bool token_checks_out(const std::string &token);
// Appends the check characters to "bmp_" and 32 letters.
std::string with_check(const std::string &token);
