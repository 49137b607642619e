// The face of cached_file.h towards JavaScript (src/cached-file.ts is its only caller).
#include <node_api.h>

#include <algorithm>

#include "addon.h"
#include "arguments.h"
#include "cached_file.h"

namespace {
// The memory of a typed array; its size is in bytes.
struct Memory {
  char *data = nullptr;
  size_t size = 0;
};

Memory memory_of(napi_env env, napi_value array) {
  napi_typedarray_type type;
  size_t length = 0;
  void *data = nullptr;
  if (napi_get_typedarray_info(env, array, &type, &length, &data, nullptr, nullptr) != napi_ok) return {};
  return {static_cast<char *>(data), type == napi_bigint64_array ? length * sizeof(int64_t) : length};
}

napi_value number(napi_env env, int32_t value) {
  napi_value result;
  napi_create_int32(env, value, &result);
  return result;
}

constexpr int kDone = 0, kAbsent = 1, kNotNow = 2;
constexpr size_t kFacts = 5;

int code_of(Cached outcome) {
  if (outcome == Cached::Done) return kDone;
  return outcome == Cached::Absent ? kAbsent : kNotNow;
}

// openCached(path, target, facts): the real path, or a code. facts, for 64-bit integers: descriptor (-1: closed again), size, inode,
// modification time in ns, and what it is: 2, a plain file that was read into the target; 1, one that is open; 0, no plain file.
napi_value open_cached(napi_env env, napi_callback_info info) {
  const Arguments arguments(env, info);
  char path[PATH_MAX];
  size_t size = 0;
  if (napi_get_value_string_utf8(env, arguments[0], path, sizeof path, &size) != napi_ok) return number(env, kNotNow);
  const Memory target = memory_of(env, arguments[1]), facts = memory_of(env, arguments[2]);
  // A longer path would have been cut, and one with a 0 in it would name something else.
  if (size + 1 >= sizeof path || std::find(path, path + size, '\0') != path + size || facts.size < kFacts * sizeof(int64_t))
    return number(env, kNotNow);
  CachedFile file;
  const Cached outcome = ::open_cached(path, target.data, target.size, file);
  if (outcome != Cached::Done) return number(env, code_of(outcome));
  const struct stat &stat = file.stat;
  const int64_t modified = static_cast<int64_t>(stat.st_mtim.tv_sec) * 1000000000 + stat.st_mtim.tv_nsec;
  const int64_t kind = file.is_read ? 2 : S_ISREG(stat.st_mode) ? 1 : 0;
  const int64_t values[kFacts] = {file.fd, stat.st_size, static_cast<int64_t>(stat.st_ino), modified, kind};
  std::copy(values, values + kFacts, reinterpret_cast<int64_t *>(facts.data));
  napi_value real_path;
  napi_create_string_utf8(env, file.real_path, file.real_path_size, &real_path);
  return real_path;
}

// readCached(fd, offset, target): a code; the target is filled whole where it is 0
napi_value read_cached(napi_env env, napi_callback_info info) {
  const Arguments arguments(env, info);
  const Memory target = memory_of(env, arguments[2]);
  return number(env, code_of(::read_cached(static_cast<int>(arguments.integer(0)), arguments.integer(1), target.data, target.size)));
}
}  // namespace

void add_cached_file(napi_env env, napi_value exports) {
  const napi_property_descriptor functions[] = {
      {"openCached", nullptr, open_cached, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"readCached", nullptr, read_cached, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
  };
  napi_define_properties(env, exports, sizeof functions / sizeof *functions, functions);
}
