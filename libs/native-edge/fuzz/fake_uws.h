// Fakes of the two sides of the addon's pipeline: a connection of uSockets over a socket pair, and a uWS that records its input and answers
// according to the request.
#pragma once
#include <deque>
#include <string>
#include <vector>

#include "../native/uws/usockets.h"

// The current time of the addon.
extern int64_t fake_now_ms;

// One connection. Its handler answers each request at once, with 'X-Id: uws', but a request for /wait/ only by answer_waiting(). It closes the
// connection after a request for /zap, and, like uWS, after a whole request with Connection: close.
class FakeConnection {
 public:
  // Maximum bytes that uSockets receives at once (LIBUS_RECV_BUFFER_LENGTH) and passes on.
  static constexpr size_t kReceiveBuffer = 512 * 1024;

  // `is_encrypted` applies to all open connections.
  explicit FakeConnection(bool is_encrypted = false);
  ~FakeConnection();

  bool closed() const { return closed_; }
  bool reads() const { return !closed_ && (events_ & kReadable); }
  bool is_waited_for() const { return pending_; }
  // Receives a packet of at most kReceiveBuffer bytes from the client.
  void receive(const std::string &bytes);
  // Lets the handler answer the pending request for /wait/.
  void answer_waiting();
  // Runs one turn of the event loop: before-poll, writable.
  void turn();
  // Lets the client read up to this many bytes.
  void client_reads(size_t bytes);

  const std::string &output() const { return output_; }           // bytes that the client has read
  const std::vector<std::string> &requests() const { return requests_; }  // complete requests that uWS was given, body included

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
  std::string backlog_;  // bytes that uWS could not send yet
  std::string record_, plain_record_;  // unsent rest of a record that was not accepted at once, and the content of that record
  bool has_told_of_end_ = false;
  std::string output_;
  std::vector<std::string> requests_;
};
