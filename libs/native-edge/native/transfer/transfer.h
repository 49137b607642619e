// A body that is being sent to a client, and the events that drive it, independent of the source of the bytes.
//
//   begin         part of the body is sent, the kernel's buffer is full: the connection is polled for writable
//   on_writable   sends the next piece, up to transfer_quota(), and so on
//   settle        all is sent, or it failed: polls for readable again, and reports the outcome to the transfer
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <memory>

#include "../uws/usockets.h"

struct Connection;

// Limit for fairness: bytes sent for one connection before the others are served.
size_t transfer_quota();

// The values are shared with src/transfer/types.ts.
enum class Outcome { Sent = 0, Aborted = 1, Truncated = 2, Stalled = 3 };

enum class Pumped { All, Again, Cold, Truncated, PeerGone };

class Transfer {
 public:
  explicit Transfer(uint64_t bytes) : length(bytes), left(bytes) {}
  virtual ~Transfer() = default;

  // Sends the next bytes, up to the quota, to the socket.
  virtual Pumped pump(us_socket_t *socket) = 0;
  // Must be called after Cold: reads the next piece, so that pump finds it in memory. Blocks; runs on a thread of libuv's
  // pool.
  virtual void warm() {}
  // The transfer has ended and is deleted after this call, which may run JavaScript: any connection may be closed afterwards.
  virtual void ended(Outcome outcome) = 0;

  const uint64_t length;
  uint64_t left;
  bool head_waits = false;  // uWS could not send the head yet, and must do so first
  bool is_last = false;     // the connection ends after it: bytes behind the request are dropped

 private:
  friend struct Progress;
  us_socket_t *socket_ = nullptr;  // null if the connection was closed while a thread was reading
  bool warming_ = false;
  // The peer's progress, checked every few seconds.
  bool moved_ = true;          // the kernel has accepted bytes since the last check
  int unacknowledged_ = 0;     // bytes that the kernel held for the peer at the last check
  uint64_t progress_at_ = 0;   // last check that showed progress, in the loop's milliseconds
};

// Assigns an unfinished transfer to its connection; `pumped` is Again or Cold.
void begin_transfer(Connection &connection, std::unique_ptr<Transfer> transfer, Pumped pumped);

// For a closing connection: the first removes its transfer; the second, after uWS has closed it, reports the transfer as
// aborted.
std::unique_ptr<Transfer> detach_transfer(Connection &connection);
void report_aborted(std::unique_ptr<Transfer> transfer);

us_socket_t *on_writable(us_socket_t *socket);
us_socket_t *on_timeout(us_socket_t *socket);

void poll_unfinished_transfers();
