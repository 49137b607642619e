// The form of service tokens: "bmp_", 32 characters of base62, and 6 more that check them. libs/core/src/access/token-format.ts makes them and
// says more; here a mistyped one is recognised without JavaScript.
#pragma once
#include <string_view>

// Whether the text is nothing but letters, digits and underscores, so that no way of carrying it could mean another token by it.
bool is_plain_text(std::string_view text);
// Whether it has a token's form and its checksum is right.
bool is_well_formed_token(std::string_view text);
