// The hot table's face towards JavaScript (src/hot-table.ts is its only caller).
#include <node_api.h>

#include "addon.h"
#include "arguments.h"
#include "hot_answer.h"
#include "hot_table.h"

namespace {
// setCapacity(bytes)
napi_value set_capacity(napi_env env, napi_callback_info info) {
  hot_table.set_capacity(static_cast<size_t>(Arguments(env, info).integer(0)));
  return nullptr;
}

// putTile(target, head, body, code, needsGzip, head of a 304, etag)
napi_value put_tile(napi_env env, napi_callback_info info) {
  const Arguments arguments(env, info);
  const std::string target = arguments.text(0), head = arguments.text(1), not_modified = arguments.text(5), etag = arguments.text(6);
  const auto code = static_cast<uint32_t>(arguments.integer(3));
  hot_table.put_tile({target, head, not_modified, etag, arguments.bytes(2), code, arguments.truth(4)});
  return nullptr;
}

// hasTile(target)
napi_value has_tile(napi_env env, napi_callback_info info) {
  napi_value has;
  napi_get_boolean(env, hot_table.has_tile(Arguments(env, info).text(0)), &has);
  return has;
}

// takeUse(target): a Use
napi_value take_use(napi_env env, napi_callback_info info) {
  napi_value use;
  napi_create_int32(env, static_cast<int32_t>(hot_table.take_use(Arguments(env, info).text(0))), &use);
  return use;
}

// dropTile(target)
napi_value drop_tile(napi_env env, napi_callback_info info) {
  hot_table.drop_tile(Arguments(env, info).text(0));
  return nullptr;
}

// dropCode(code)
napi_value drop_code(napi_env env, napi_callback_info info) {
  hot_table.drop_code(static_cast<uint32_t>(Arguments(env, info).integer(0)));
  return nullptr;
}

// putToken(text, expiresAt, all, grants as bytes: the bit set in little-endian 64-bit words)
napi_value put_token(napi_env env, napi_callback_info info) {
  const Arguments arguments(env, info);
  HotToken token;
  token.text = arguments.text(0);
  token.expires_at = arguments.integer(1);
  token.all = arguments.truth(2);
  const std::string_view bits = arguments.bytes(3);
  token.grants.resize(bits.size() / sizeof(uint64_t));
  bits.copy(reinterpret_cast<char *>(token.grants.data()), token.grants.size() * sizeof(uint64_t));
  hot_table.put_token(std::move(token));
  return nullptr;
}

// dropToken(text)
napi_value drop_token(napi_env env, napi_callback_info info) {
  hot_table.drop_token(Arguments(env, info).text(0));
  return nullptr;
}

// putUnknown(text)
napi_value put_unknown(napi_env env, napi_callback_info info) {
  hot_table.put_unknown(Arguments(env, info).text(0));
  return nullptr;
}

// dropUnknown(text)
napi_value drop_unknown(napi_env env, napi_callback_info info) {
  hot_table.drop_unknown(Arguments(env, info).text(0));
  return nullptr;
}

// setRefusal(a Refused, head, body)
napi_value set_refusal(napi_env env, napi_callback_info info) {
  const Arguments arguments(env, info);
  const int64_t why = arguments.integer(0);
  if (why < 0 || why >= static_cast<int64_t>(kRefusals)) return nullptr;
  const std::string head = arguments.text(1);
  TileParts answer;
  answer.head = head;
  answer.body = arguments.bytes(2);
  hot_table.set_refusal(static_cast<Refused>(why), answer);
  return nullptr;
}

// clear()
napi_value clear(napi_env, napi_callback_info) {
  hot_table.clear();
  return nullptr;
}

// trustTokensUntil(milliseconds since 1970)
napi_value trust_tokens_until(napi_env env, napi_callback_info info) {
  hot_table.trust_tokens_until(Arguments(env, info).integer(0));
  return nullptr;
}

// counts(): [answers with tiles or 304, body bytes of all answers, tiles, their bytes, tokens, and the refusals by Refused]
napi_value counts(napi_env env, napi_callback_info) {
  const double numbers[] = {static_cast<double>(hot_counts.answers), static_cast<double>(hot_counts.body_bytes),
                            static_cast<double>(hot_table.tile_count()), static_cast<double>(hot_table.tile_bytes()),
                            static_cast<double>(hot_table.token_count()), static_cast<double>(hot_counts.refusals[0]),
                            static_cast<double>(hot_counts.refusals[1]), static_cast<double>(hot_counts.refusals[2])};
  napi_value list;
  napi_create_array(env, &list);
  for (uint32_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    napi_value number;
    napi_create_double(env, numbers[i], &number);
    napi_set_element(env, list, i, number);
  }
  return list;
}

// takeUsedTokens(): those that something was answered to since the last call
napi_value take_used_tokens(napi_env env, napi_callback_info) {
  napi_value list;
  napi_create_array(env, &list);
  uint32_t i = 0;
  for (const std::string &text : hot_table.take_used_tokens()) {
    napi_value value;
    napi_create_string_utf8(env, text.data(), text.size(), &value);
    napi_set_element(env, list, i++, value);
  }
  return list;
}
}  // namespace

void add_hot_table(napi_env env, napi_value exports) {
  const napi_property_descriptor functions[] = {
      {"setCapacity", nullptr, set_capacity, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"putTile", nullptr, put_tile, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"hasTile", nullptr, has_tile, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"takeUse", nullptr, take_use, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"dropTile", nullptr, drop_tile, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"dropCode", nullptr, drop_code, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"putToken", nullptr, put_token, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"dropToken", nullptr, drop_token, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"putUnknown", nullptr, put_unknown, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"dropUnknown", nullptr, drop_unknown, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"setRefusal", nullptr, set_refusal, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"clear", nullptr, clear, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"trustTokensUntil", nullptr, trust_tokens_until, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"counts", nullptr, counts, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"takeUsedTokens", nullptr, take_used_tokens, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
  };
  napi_define_properties(env, exports, sizeof functions / sizeof *functions, functions);
}
