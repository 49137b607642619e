#include "file_transfer.h"

#include <errno.h>

#include <algorithm>

#include "../uws/wire.h"
#include "residency.h"

size_t FileTransfer::choose_stretch() {
  return stretch_ = static_cast<size_t>(std::min<uint64_t>(transfer_quota(), left));
}

bool FileTransfer::is_cold() const { return residency(file_, offset_, stretch_) == Residency::Cold; }

void FileTransfer::warm() { ::warm(file_, offset_, stretch_); }

Pumped FileTransfer::send_stretch(us_socket_t *socket) {
  for (size_t quota = stretch_; quota;) {
    const ssize_t n = send_file(socket, file_, &offset_, quota);
    if (n > 0) {
      left -= static_cast<uint64_t>(n);
      quota -= static_cast<size_t>(n);
    } else if (n == 0) {
      return Pumped::Truncated;  // the file ends before the promised length
    } else if (errno == EAGAIN) {
      return Pumped::Again;
    } else if (errno != EINTR) {
      return errno == EPIPE || errno == ECONNRESET || errno == ETIMEDOUT ? Pumped::PeerGone : Pumped::Truncated;
    }
  }
  return left ? Pumped::Again : Pumped::All;
}
