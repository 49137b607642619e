// The directory of a scan source. Files outside of it are never served.
#pragma once
#include <stdint.h>

#include <memory>
#include <string>

// True if this kernel and the filter of its system calls allow openat2 (Linux 5.6; RESOLVE_CACHED 5.12).
bool has_openat2();

class TileRoot {
 public:
  explicit TileRoot(std::string path) : path_(std::move(path)) {}
  TileRoot(const TileRoot &) = delete;
  ~TileRoot() { close_it(); }

  // Returns the process's root with this path, shared by all callers as long as it is held.
  static std::shared_ptr<TileRoot> at(const std::string &path);

  // Opens a file for reading by its path below the root, if the kernel has the path in memory. Symbolic links may lead to any place below
  // the root. Returns a descriptor, or the negative error: -ENOENT and -ENOTDIR mean that the file does not exist, other errors mean
  // nothing. `now` is in milliseconds of CLOCK_MONOTONIC.
  int open(const char *path, int64_t now);
  // Returns 0 if a folder exists at this path below the root that the last `open` has found, or the negative error, as `open` does.
  int look_for_folder(const char *path) const;

 private:
  void close_it();
  void look_again(int64_t now);

  const std::string path_;
  int fd_ = -1;
  int64_t look_again_at_ = 0;
};
