// A part of a file as a body, stretch by stretch, and only of what the kernel has in memory.
#pragma once
#include "transfer.h"

class FileTransfer : public Transfer {
 public:
  FileTransfer(int file, int64_t offset, uint64_t length) : Transfer(length), file_(file), offset_(offset) {}

  // So much of it has been sent already.
  void skip(uint64_t bytes) {
    offset_ += static_cast<off_t>(bytes);
    left -= bytes;
  }
  // Chooses what is sent next: its length.
  size_t choose_stretch();
  // Whether the stretch would have to be read from the disk.
  bool is_cold() const;
  Pumped send_stretch(us_socket_t *socket);
  Pumped pump(us_socket_t *socket) override {
    choose_stretch();
    return is_cold() ? Pumped::Cold : send_stretch(socket);
  }
  void warm() override;

 private:
  const int file_;
  off_t offset_;
  size_t stretch_ = 0;
};
