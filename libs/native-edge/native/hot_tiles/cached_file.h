// Opens and reads files without blocking, if the path and the bytes are in the kernel's caches.
//
// Only for local file systems. A cached path saves the look-up, but a network file system may still contact its server to open the file, and wait
// for the response.
#pragma once
#include <limits.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

// Outcome of an attempt. NotNow says nothing about the file: a thread that may block has to open it. The values are shared with
// src/hot-tiles/cached-file.ts.
enum class Cached { Done, Absent, NotNow };

struct CachedFile {
  int fd = -1;  // open if the content was not read
  bool is_read = false;
  struct stat stat;
  char real_path[PATH_MAX];  // without symbolic links, from /proc, not terminated by 0
  size_t real_path_size = 0;
};

// Opens a file. A plain file of at most `capacity` bytes is read into `target` and closed again.
Cached open_cached(const char *path, char *target, size_t capacity, CachedFile &file);

// True if the kernel is known to have the whole range in memory. Needs Linux 6.5, and only the owner of a file or a process that may write it
// gets an answer (cachestat), so false says nothing.
bool is_known_cached(int fd, off_t offset, size_t length);

// Reads the whole range, or nothing.
Cached read_cached(int fd, off_t offset, char *target, size_t length);
// Reads into several pieces of memory, in order: at most 1,024 (IOV_MAX).
Cached read_cached(int fd, off_t offset, const iovec *into, int count);
