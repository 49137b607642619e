// The two places in uWS's private memory that the addon needs, found by watching a probe request.
//
// 1. The cork buffer. While a handler runs, uWS "corks" the connection: it collects the handler's output in one buffer for the
//    whole loop, and sends it when the handler returns. LoopData contains, in this order: the buffer's address, the number of bytes in
//    it, and the corked connection. sendfile must not overtake the response head that waits there, so the addon sends the
//    head itself and then sets the count to 0.
// 2. The state of a connection's response: an int in HttpResponseData, one bit of which means "this request is not answered yet".
//    uWS closes a connection that sends a request while that bit is set; the addon holds the request instead (request_pipeline.h).
//
// No offset is built in. The code assumes that both places are in the first 512 bytes, that malloc reports the end of the block, and which bits of
// the state have which meaning (layout.cc). If one of these assumptions is wrong, the probe fails. The self-test sends a probe request whose handler
// calls probe() between its steps. probe() searches for the values that these steps must leave behind. It fails unless exactly one place showed all
// of them.
#pragma once
#include <stddef.h>

#include "usockets.h"

enum class ProbeStage { Untouched, StatusWritten, HeaderWritten, LengthAnnounced, Answered };

// The output that the probe's handler must write in these stages, so that the expected values are known.
constexpr char kProbeStatusLine[] = "HTTP/1.1 200 OK\r\n";
constexpr char kProbeHeader[] = "ab: c\r\n";
constexpr char kProbeEnd[] = "\r\nContent-Length: 2\r\n\r\nx";

class Layout {
 public:
  void reset(us_loop_t *loop);
  // Called in each stage, in order, for the probe request on `socket`. False if the expected values are not found.
  bool probe(ProbeStage stage, us_socket_t *socket);
  bool learned() const { return learned_; }

  us_socket_t *corked_socket() const;
  char *cork_buffer() const;
  unsigned &cork_length() const;
  bool response_pending(us_socket_t *socket) const;

 private:
  bool find_cork(us_socket_t *socket);
  bool check_cork(const char *begin, const char *end) const;
  bool narrow_state(us_socket_t *socket, int expected);

  char *loop_data_ = nullptr;
  size_t loop_data_size_ = 0;
  size_t cork_ = 0;                // offset of the buffer's address in LoopData
  bool state_candidates_[128] = {};  // by index of the int in HttpResponseData
  size_t state_ = 0;               // offset in HttpResponseData
  bool learned_ = false;
};
