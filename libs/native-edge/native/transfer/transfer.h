// A body that is on its way to a client, and the events that drive it: the part that is the same whatever the bytes come from.
//
//   begin      some of the body is sent, the kernel's buffer is full: the connection is polled for writable
//   on_writable   the next piece, up to transfer_quota(); and so on
//   settle     all is sent, or it failed: back to polling for readable, and the transfer is told its outcome
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <memory>

#include "../uws/usockets.h"

struct Connection;

// Fairness: so much is sent for one connection before the others are looked at again.
size_t transfer_quota();

// The values are shared with src/types.ts.
enum class Outcome { Sent = 0, Aborted = 1, Truncated = 2, Stalled = 3 };

enum class Pumped { All, Again, Cold, Truncated, PeerGone };

class Transfer {
 public:
  explicit Transfer(uint64_t bytes) : length(bytes), left(bytes) {}
  virtual ~Transfer() = default;

  // Sends the next bytes, up to the quota, to the socket.
  virtual Pumped pump(us_socket_t *socket) = 0;
  // After Cold: reads the next stretch, so that pump finds it in memory. Blocks; runs on a thread of libuv's pool.
  virtual void warm() {}
  // The transfer has ended and is deleted after this. May run JavaScript: any connection may be closed afterwards.
  virtual void ended(Outcome outcome) = 0;

  const uint64_t length;
  uint64_t left;
  bool head_waits = false;  // uWS could not send the head yet and must do so first
  bool is_last = false;     // the connection ends with it: what comes behind the request is dropped

 private:
  friend struct Progress;
  us_socket_t *socket_ = nullptr;  // null: the connection has closed while a thread was reading
  bool warming_ = false;
  // What is known of the peer's progress; looked at every few seconds.
  bool moved_ = true;          // the kernel has taken bytes since the last look
  int unacknowledged_ = 0;     // bytes that the kernel held for the peer at the last look
  uint64_t progress_at_ = 0;   // the last look that showed progress, in the loop's milliseconds
};

// Puts a transfer that could not be finished at once on its connection; `pumped` is Again or Cold.
void begin_transfer(Connection &connection, std::unique_ptr<Transfer> transfer, Pumped pumped);

// For a connection that is closing: takes its transfer off, and, when uWS has closed it, reports that.
std::unique_ptr<Transfer> detach_transfer(Connection &connection);
void report_aborted(std::unique_ptr<Transfer> transfer);

us_socket_t *on_writable(us_socket_t *socket);
us_socket_t *on_timeout(us_socket_t *socket);

void poll_unfinished_transfers();
