// The form of service tokens: "bmp_", 32 characters of base62, and 6 check characters. libs/core/src/access/token-format.ts generates and
// documents them; this check recognises a mistyped token without JavaScript.
#pragma once
#include <string_view>

// True if the text contains only letters, digits and underscores, so that every encoding of it means the same token.
bool is_plain_text(std::string_view text);
// True if the text has the form of a token and its checksum is correct.
bool is_well_formed_token(std::string_view text);
