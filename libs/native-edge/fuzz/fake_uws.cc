#include "fake_uws.h"

#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <memory>

#include "../native/uws/connection.h"
#include "../native/uws/request_pipeline.h"
#include "../native/uws/hooks.h"
#include "check.h"
#include "reading.h"

int64_t fake_now_ms = 1'800'000'000'000;

namespace {
// Bytes that uSockets leaves free behind those that it passes on.
constexpr size_t kPadding = 32;
uv_prepare_cb before_poll = nullptr;
uv_prepare_t *before_poll_handle = nullptr;
}  // namespace

extern "C" int __wrap_clock_gettime(clockid_t, timespec *now) {
  now->tv_sec = fake_now_ms / 1000;
  now->tv_nsec = fake_now_ms % 1000 * 1'000'000;
  return 0;
}

uint64_t uv_now(const uv_loop_t *) { return static_cast<uint64_t>(fake_now_ms); }
int uv_prepare_init(uv_loop_t *, uv_prepare_t *) { return 0; }
int uv_prepare_start(uv_prepare_t *handle, uv_prepare_cb callback) {
  before_poll = callback;
  before_poll_handle = handle;
  return 0;
}
int uv_prepare_stop(uv_prepare_t *) {
  before_poll = nullptr;
  return 0;
}
void uv_unref(uv_handle_t *) {}
void uv_close(uv_handle_t *, uv_close_cb) {}
int uv_queue_work(uv_loop_t *, uv_work_t *, uv_work_cb, uv_after_work_cb) { fail("no file is sent here"); }

// layout.cc finds this state in uWS's memory.
bool Layout::response_pending(us_socket_t *socket) const { return reinterpret_cast<FakeConnection *>(socket)->is_waited_for(); }

USockets us;
UwsCallbacks uws;

// Fakes of uSockets' functions and uWS's callbacks.
struct Fakes {
  static FakeConnection *of(us_socket_t *socket) { return reinterpret_cast<FakeConnection *>(socket); }

  Fakes() {
    us.us_poll_fd = [](us_socket_t *socket) { return of(socket)->fd_; };
    us.us_poll_events = [](us_socket_t *socket) { return of(socket)->events_; };
    us.us_poll_change = [](us_socket_t *socket, us_loop_t *, int events) { of(socket)->events_ = events; };
    us.us_socket_is_closed = [](int, us_socket_t *socket) { return static_cast<int>(of(socket)->closed_); };
    us.us_socket_close = [](int, us_socket_t *socket, int, void *) {
      of(socket)->disconnect();
      return socket;
    };
    us.us_socket_write = [](int, us_socket_t *socket, const char *data, int length, int) {
      return of(socket)->encrypt(data, static_cast<size_t>(length));
    };
    us.us_socket_shutdown = [](int, us_socket_t *socket) { of(socket)->has_told_of_end_ = true; };
    us.us_socket_timeout = [](int, us_socket_t *, unsigned) {};
    uws.data = [](us_socket_t *socket, char *data, int length) {
      of(socket)->given(data, static_cast<size_t>(length));
      return socket;
    };
    uws.writable = [](us_socket_t *socket) {
      of(socket)->flush();
      return socket;
    };
    app.attached = true;
    app.stall_ms = 60'000;
  }
};

FakeConnection::FakeConnection(bool is_encrypted) {
  static const Fakes fakes;
  us.tls = is_encrypted;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends)) fail("no socket pair");
  fd_ = ends[0];
  client_ = ends[1];
  const int room = 4'096;
  setsockopt(fd_, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  add_connection(socket());
}

FakeConnection::~FakeConnection() {
  disconnect();
  ::close(fd_);
  ::close(client_);
}

void FakeConnection::disconnect() {
  if (closed_) return;
  closed_ = true;
  // Same as on_close in addon.cc.
  Connection *connection = find_connection(socket());
  std::unique_ptr<Transfer> transfer = connection ? detach_transfer(*connection) : nullptr;
  forget_connection(socket());
  report_aborted(std::move(transfer));
}

// Behaves like a TLS library without partial writes: a record is accepted whole, or must be offered again unchanged. Here it is sent
// without encryption.
int FakeConnection::encrypt(const char *data, size_t length) {
  REQUIRE(us.tls && !closed_ && !has_told_of_end_, "an encrypted write where there can be none");
  REQUIRE(length > 0 && length <= 16 * 1024, "more than a record");
  if (plain_record_.empty()) record_ = plain_record_ = std::string(data, length);
  else REQUIRE(plain_record_ == std::string(data, length), "another record is offered than the one that was not taken");
  if (!flush_record()) {
    events_ |= kWritable;
    return 0;
  }
  plain_record_.clear();
  return static_cast<int>(length);
}

bool FakeConnection::flush_record() {
  const ssize_t sent = send(fd_, record_.data(), record_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent > 0) record_.erase(0, static_cast<size_t>(sent));
  return record_.empty();
}

void FakeConnection::receive(const std::string &bytes) {
  if (bytes.size() > kReceiveBuffer) fail("a packet is larger than uSockets' receive buffer");
  // Exactly the memory that uSockets promises, so that the address sanitizer detects reads beyond it.
  const std::unique_ptr<char[]> memory(new char[bytes.size() + kPadding]());
  memcpy(memory.get(), bytes.data(), bytes.size());
  on_data(socket(), memory.get(), static_cast<int>(bytes.size()));
}

// Fakes uWS's parser: one request at a time, or a part of its body.
void FakeConnection::given(char *data, size_t length) {
  REQUIRE(!closed_, "uWS was given bytes of a connection that has closed");
  // Like uWS, marks the end of the bytes, and reads beyond them.
  volatile char read = 0;
  for (size_t i = 0; i < kPadding; i++) read = data[length + i];
  static_cast<void>(read);
  data[length] = '\r';
  data[length + 1] = 'a';
  input_.append(data, length);
  if (!has_head_) {
    REQUIRE(!pending_ && backlog_.empty(), "uWS was given a request before the one before was answered: " + shown(input_));
    const size_t end = input_.find("\r\n\r\n");
    REQUIRE(end != std::string::npos, "uWS was given a part of a head: " + shown(input_));
    const std::optional<Reading> reading = read_head(input_.substr(0, end + 4));
    REQUIRE(reading.has_value(), "uWS was given what is not valid: " + shown(input_));
    has_head_ = true;
    is_last_ = wants_close_plainly(*reading);
    if (reading->target.substr(0, 6) == "/wait/") pending_ = true;
    else answer();
    if (reading->target == "/zap") return disconnect();
  }
  const size_t head = input_.find("\r\n\r\n") + 4;
  bool malformed = false;
  const std::optional<size_t> body = body_end(*read_head(input_.substr(0, head)), input_.substr(head), &malformed);
  REQUIRE(!malformed, "uWS was given a broken body: " + shown(input_));
  if (!body) return;
  REQUIRE(input_.size() == head + *body, "uWS was given more than one request: " + shown(input_));
  requests_.push_back(std::move(input_));
  input_.clear();
  has_head_ = false;
  close_after_last();
}

void FakeConnection::close_after_last() {
  if (is_last_ && !has_head_ && !pending_ && backlog_.empty()) disconnect();
}

void FakeConnection::answer() {
  pending_ = false;
  backlog_ += "HTTP/1.1 200 OK\r\nX-Id: uws\r\nContent-Length: 0\r\n\r\n";
  flush();
}

void FakeConnection::answer_waiting() {
  if (pending_ && !closed_) answer();
}

void FakeConnection::flush() {
  REQUIRE(plain_record_.empty(), "uWS answers in the middle of a record");
  const ssize_t sent = send(fd_, backlog_.data(), backlog_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent > 0) backlog_.erase(0, static_cast<size_t>(sent));
  if (backlog_.empty()) events_ &= ~kWritable;
  else events_ |= kWritable;
  close_after_last();
}

void FakeConnection::turn() {
  if (before_poll) before_poll(before_poll_handle);
  if (!closed_ && (events_ & kWritable)) on_writable(socket());
}

void FakeConnection::client_reads(size_t bytes) {
  static char buffer[100'000];
  const ssize_t got = recv(client_, buffer, std::min(bytes, sizeof buffer), MSG_DONTWAIT);
  if (got > 0) output_.append(buffer, static_cast<size_t>(got));
}
