// An open file that is closed with its last holder: a tile, an archive, or a response that is being sent from it.
#pragma once
#include <stddef.h>

#include <memory>

class Descriptor {
 public:
  // Takes ownership of the descriptor.
  explicit Descriptor(int fd) : fd(fd) {}
  Descriptor(const Descriptor &) = delete;
  ~Descriptor();
  // Returns null if the process may open no more files.
  static std::shared_ptr<const Descriptor> copy_of(int fd);

  // Maximum number of the process's descriptors that tiles may hold: a quarter, since the others are for connections and for JavaScript.
  static size_t most_for_tiles();
  // True if few descriptors remain after one with this number was opened. The kernel always assigns the lowest free number.
  static bool leaves_few(int fd);

  const int fd;
};
