// Opening and reading files without blocking: only where path and bytes are in the kernel's caches.
//
// For local file systems alone. That a path is cached spares the look-up; where files live on another machine, opening one may
// still ask that machine, and waits for its answer.
#pragma once
#include <limits.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

// The outcome of an attempt. NotNow says nothing about the file: a thread that may block has to open it. The values are shared with
// src/hot-tiles/cached-file.ts.
enum class Cached { Done, Absent, NotNow };

struct CachedFile {
  int fd = -1;  // open where the content was not read
  bool is_read = false;
  struct stat stat;
  char real_path[PATH_MAX];  // without links, as /proc says, and no 0 at its end
  size_t real_path_size = 0;
};

// Opens a file, and where it is a plain one of at most `capacity` bytes reads it into `target` and closes it again.
Cached open_cached(const char *path, char *target, size_t capacity, CachedFile &file);

// Whether the kernel has all of the stretch in memory. It tells since Linux 6.5, and the owner of a file, or who may write it, alone (cachestat):
// false says nothing.
bool is_known_cached(int fd, off_t offset, size_t length);

// Reads the stretch whole, or not at all.
Cached read_cached(int fd, off_t offset, char *target, size_t length);
// ... into several pieces of memory, one after the other: at most 1,024 (IOV_MAX).
Cached read_cached(int fd, off_t offset, const iovec *into, int count);
