// Reads what the query and the fields of a request say about a tile, exactly as TypeScript does. If that would need more than the parsers
// here support, the result is "unclear", and JavaScript decides.
#pragma once
#include "../uws/request_head.h"
#include "response_table.h"

// Returns the token that a request presents, in any of its places (access/presented-token.ts). `query` is the part after the question mark.
// The view may point into memory that the next call overwrites.
Credential credential_of(const RequestHead &request, std::string_view query);

// Decides like services/edge/src/files/accepts-gzip.ts. False also if the field is unclear.
bool accepts_gzip(std::string_view accept_encoding);

// Result of comparing the client's copy (services/edge/src/files/conditional.ts).
enum class Copy { Good, Stale, Unclear };
// `etag` is that of the tile, quotes included; empty if only JavaScript knows it. `modified` is in whole seconds since 1970.
Copy judge_copy(const RequestHead &request, std::string_view etag, int64_t modified);
