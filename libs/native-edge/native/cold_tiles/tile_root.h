// The directory of a scan source, out of which nothing is served.
#pragma once
#include <stdint.h>

#include <memory>
#include <string>

// Whether this kernel, and what filters its calls, lets openat2 be used (Linux 5.6; RESOLVE_CACHED 5.12).
bool has_openat2();

class TileRoot {
 public:
  explicit TileRoot(std::string path) : path_(std::move(path)) {}
  TileRoot(const TileRoot &) = delete;
  ~TileRoot() { close_it(); }

  // The root that a process has under this path; the same for all that ask while somebody holds it.
  static std::shared_ptr<TileRoot> at(const std::string &path);

  // Opens a file for reading by its path below the root, as far as the kernel has the path in memory. Symbolic links may lead to
  // whatever is below the root. Answers a descriptor, or minus the error: -ENOENT and -ENOTDIR say that there is no such file, anything else
  // nothing. `now`: milliseconds of CLOCK_MONOTONIC.
  int open(const char *path, int64_t now);
  // Whether there is a folder at this path, as `open` has found the root: 0, or minus the error as of `open`.
  int look_for_folder(const char *path) const;

 private:
  void close_it();
  void look_again(int64_t now);

  const std::string path_;
  int fd_ = -1;
  int64_t look_again_at_ = 0;
};
