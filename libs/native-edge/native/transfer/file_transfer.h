// A range of a file as a body. It is sent in pieces, and only those that the kernel has in memory.
#pragma once
#include "transfer.h"

class FileTransfer : public Transfer {
 public:
  FileTransfer(int file, int64_t offset, uint64_t length) : Transfer(length), file_(file), offset_(offset) {}

  // Skips bytes that were already sent.
  void skip(uint64_t bytes) {
    offset_ += static_cast<off_t>(bytes);
    left -= bytes;
  }
  // Chooses the piece to send next, and returns its length.
  size_t choose_stretch();
  // True if the piece would have to be read from the disk.
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
