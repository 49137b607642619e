// The JavaScript interface of cached_file.h, called only by src/hot-tiles/cached-file.ts.
#include <algorithm>

#include "../addon.h"
#include "../call.h"
#include "cached_file.h"

namespace {
double code_of(Cached outcome) { return static_cast<double>(outcome); }

// openCached(path, target, facts): the real path, or a Cached. facts: descriptor (-1: closed again), size, inode, modification time in ns,
// and the kind: 2, a plain file that was read into the target; 1, one that is open; 0, anything but a plain file.
napi_value open_cached(const Call &call) {
  char path[PATH_MAX];
  size_t size = 0;
  if (napi_get_value_string_utf8(call.env, call[0], path, sizeof path, &size) != napi_ok) return call.value(code_of(Cached::NotNow));
  const auto [target, capacity] = call.array<char>(1);
  const auto [facts, fact_count] = call.array<int64_t>(2);
  // A longer path would have been cut, and one that contains a 0 would name another file.
  if (size + 1 >= sizeof path || std::find(path, path + size, '\0') != path + size || fact_count < 5) return call.value(code_of(Cached::NotNow));
  CachedFile file;
  const Cached outcome = ::open_cached(path, target, capacity, file);
  if (outcome != Cached::Done) return call.value(code_of(outcome));
  const struct stat &stat = file.stat;
  facts[0] = file.fd;
  facts[1] = stat.st_size;
  facts[2] = static_cast<int64_t>(stat.st_ino);
  facts[3] = static_cast<int64_t>(stat.st_mtim.tv_sec) * 1'000'000'000 + stat.st_mtim.tv_nsec;
  facts[4] = file.is_read ? 2 : S_ISREG(stat.st_mode) ? 1 : 0;
  return call.value(std::string_view(file.real_path, file.real_path_size));
}

// readCached(fd, offset, target): a Cached; the target is filled completely if it is Done
napi_value read_cached(const Call &call) {
  const auto [target, size] = call.array<char>(2);
  return call.value(code_of(::read_cached(static_cast<int>(call.integer(0)), call.integer(1), target, size)));
}
}  // namespace

void add_cached_file(napi_env env, napi_value exports) {
  export_functions(env, exports, {{"openCached", open_cached}, {"readCached", read_cached}});
}
