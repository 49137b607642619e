// The two places in uWS's private memory that the addon needs, learned by watching a probe request.
//
// 1. The cork buffer. While a handler runs, uWS "corks" the connection: what the handler writes is collected in one buffer for the
//    whole loop and sent when the handler returns. LoopData holds, one after the other: the buffer's address, how many bytes are in
//    it, and which connection is corked. sendfile must not overtake the response head that waits there, so the addon sends the
//    head itself and then sets the count to 0.
// 2. The state of a connection's response: an int in HttpResponseData, one bit of which says "this request is not answered yet".
//    uWS closes a connection that sends a request while that bit is set; the addon holds the request instead (request_pipeline.h).
//
// No offset is built in. Assumed is that both places are in the first 512 bytes, that the block is no longer than malloc says, and which bits of the state
// mean what (layout.cc); a wrong one of these is a failure, not a guess. The self-test sends a probe request whose handler calls probe() between its
// steps; the values that these steps must leave behind are searched for, and anything but exactly one place where all of them appeared is a failure.
#pragma once
#include <stddef.h>

#include "usockets.h"

enum class ProbeStage { Untouched, StatusWritten, HeaderWritten, LengthAnnounced, Answered };

// What the probe's handler must write in these stages, so that the values to look for are known.
constexpr char kProbeStatusLine[] = "HTTP/1.1 200 OK\r\n";
constexpr char kProbeHeader[] = "ab: c\r\n";
constexpr char kProbeEnd[] = "\r\nContent-Length: 2\r\n\r\nx";

class Layout {
 public:
  void reset(us_loop_t *loop);
  // Called in each stage, in order, for the probe request on `socket`; false: what was expected is not there.
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
  size_t cork_ = 0;                // offset in LoopData of the buffer's address
  bool state_candidates_[128] = {};  // by int index in HttpResponseData
  size_t state_ = 0;               // offset in HttpResponseData
  bool learned_ = false;
};
