// Everything that the addon's feed stands between: a connection of uSockets over a socket pair, and a uWS that notes what it is given and
// answers by what stands in the request.
#pragma once
#include <deque>
#include <string>
#include <vector>

#include "../native/uws/usockets.h"

// The time that the addon sees.
extern int64_t fake_now_ms;

// One connection. Its handler answers each request at once, with 'X-Id: uws'; one for /wait/ by answer_waiting(), and after one for /zap it closes.
// So it does, as uWS, after a whole request with Connection: close.
class FakeConnection {
 public:
  // What uSockets receives at once (LIBUS_RECV_BUFFER_LENGTH), and so hands over at most.
  static constexpr size_t kReceiveBuffer = 512 * 1024;

  // `is_encrypted`: of all that are open.
  explicit FakeConnection(bool is_encrypted = false);
  ~FakeConnection();

  bool closed() const { return closed_; }
  bool reads() const { return !closed_ && (events_ & kReadable); }
  bool is_waited_for() const { return pending_; }
  // A packet from the client, of at most kReceiveBuffer bytes.
  void receive(const std::string &bytes);
  // The handler answers the pending request for /wait/.
  void answer_waiting();
  // What the event loop does once: before-poll, writable.
  void turn();
  // The client reads so many bytes.
  void client_reads(size_t bytes);

  const std::string &output() const { return output_; }           // what the client has read
  const std::vector<std::string> &requests() const { return requests_; }  // complete ones that uWS was given, body included

 private:
  friend struct Fakes;
  us_socket_t *socket() { return reinterpret_cast<us_socket_t *>(this); }
  void given(char *data, size_t length);
  void answer();
  void flush();
  void close_after_last();
  void disconnect();
  int encrypt(const char *data, size_t length);
  bool flush_record();

  int fd_ = -1, client_ = -1, events_ = kReadable;
  bool closed_ = false, pending_ = false, is_last_ = false;
  std::string input_;    // of the request that uWS is reading
  bool has_head_ = false;
  std::string backlog_;  // what uWS could not send yet
  std::string record_, plain_record_;  // what is left to be sent of a record that was not taken at once, and what it holds
  bool has_told_of_end_ = false;
  std::string output_;
  std::vector<std::string> requests_;
};
