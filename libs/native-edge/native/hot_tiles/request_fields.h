// What the query and the fields of a request say about a tile, read exactly as TypeScript reads it: where that would take more than is here,
// the answer is "unclear", and JavaScript decides.
#pragma once
#include "../uws/request_head.h"
#include "response_table.h"

// The one token that a request presents, in any of its places (access/presented-token.ts). `query`: what follows the question mark.
// The view may be into memory that the next call overwrites.
Credential credential_of(const RequestHead &request, std::string_view query);

// As edge/files/accepts-gzip.ts; false also where that is unclear.
bool accepts_gzip(std::string_view accept_encoding);

// Whether the client's copy is still good (edge/files/conditional.ts).
enum class Copy { Good, Stale, Unclear };
// `etag`: of the tile, quotes included; empty: JavaScript alone knows. `modified`: whole seconds since 1970.
Copy judge_copy(const RequestHead &request, std::string_view etag, int64_t modified);
