// An open file that is closed with its last holder: a tile, an archive, or an answer that is being sent from it.
#pragma once
#include <stddef.h>

#include <memory>

class Descriptor {
 public:
  // Takes it over.
  explicit Descriptor(int fd) : fd(fd) {}
  Descriptor(const Descriptor &) = delete;
  ~Descriptor();
  // Null where the process may open no more.
  static std::shared_ptr<const Descriptor> copy_of(int fd);

  // How many of the process's descriptors tiles may hold: a quarter, since the others are for connections and for what JavaScript opens.
  static size_t most_for_tiles();
  // Whether a new descriptor with this number leaves few. The kernel gives the lowest free number.
  static bool leaves_few(int fd);

  const int fd;
};
