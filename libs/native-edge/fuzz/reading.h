// What requests mean, read as plainly as the standards say it and with no thought for speed: what the addon's own reading is compared
// with. Nothing here is shared with it.
#pragma once
#include <stdint.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

struct Reading {
  std::string method, target;  // the target without the host that it may name
  std::string authority;       // that host, or empty
  std::string version;         // "HTTP/1.1"
  std::vector<std::pair<std::string, std::string>> fields;  // names in lower case, values trimmed
  bool chunked = false;
  uint64_t length = 0;

  std::vector<std::string> all(const std::string &name) const;
  // All values of a list field as one (RFC 9110, 5.3).
  std::string list(const std::string &name) const;
  std::string path() const;
  std::string query() const;
};

// RFC 9112, 2 to 6, without what only lenient servers take; nothing where the head, empty line included, is not valid.
std::optional<Reading> read_head(const std::string &head);

// Where a request begins that may come after empty lines (RFC 9112, 2.2).
size_t without_empty_lines(const std::string &bytes, size_t at);

// Where a body ends, by the same: bytes of it, or nothing where it is not complete. `malformed`: it never will be.
std::optional<size_t> body_end(const Reading &head, const std::string &bytes, bool *malformed);

// A whole body without chunk extensions and trailers.
std::string plain_body(const Reading &head, const std::string &body);

// Every token that a request carries in any of its places (interface.md, "Service tokens"; the password of Basic). What is only nearly base64
// counts as a token of its own, which nobody has.
std::set<std::string> tokens_of(const Reading &head);
bool has_basic(const Reading &head);
// RFC 9112, 9.6; and whether the first Connection field says that and nothing else.
bool wants_close(const Reading &head);
bool wants_close_plainly(const Reading &head);

bool accepts_gzip_plainly(const std::string &accept_encoding);
bool tag_matches(const std::string &if_none_match, const std::string &etag);
// IMF-fixdate (RFC 9110, 5.6.7) as seconds since 1970.
std::optional<int64_t> seconds_of(const std::string &date);
bool token_checks_out(const std::string &token);
// Puts its check behind "bmp_" and 32 letters.
std::string with_check(const std::string &token);
