// The part of an entity tag that names the content of a file: `fileIdentity` of libs/core/src/files.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "header_template.h"

// Limit: bytes of an identity.
constexpr size_t kMaxIdentity = 64;

// Inode, time of change in nanoseconds (after 1970), and size, in base 36.
inline Writer &add_identity(Writer *text, const struct stat &stat) {
  constexpr uint64_t ns_per_second = 1'000'000'000;
  const uint64_t changed = static_cast<uint64_t>(stat.st_mtim.tv_sec) * ns_per_second + static_cast<uint64_t>(stat.st_mtim.tv_nsec);
  return text->number(stat.st_ino, 36).add("-").number(changed, 36).add("-").number(static_cast<uint64_t>(stat.st_size), 36);
}
