#include "request_pipeline.h"

#include <string.h>
#include <sys/socket.h>
#include <uv.h>

#include <algorithm>

#include "connection.h"
#include "hooks.h"
#include "wire.h"
#include "../documents/document_table.h"
#include "../hot_tiles/log_sampling.h"
#include "../hot_tiles/tile_response.h"

namespace {
// uWS may write 2 bytes and read up to 32 behind the bytes that it is given.
constexpr size_t kPadding = 32;
// Limits of what one connection may send ahead. Above the first it is no longer read. Above the second (one more full receive buffer of
// uSockets, 512 KB, may be in progress when reading pauses) it is closed.
constexpr size_t kPauseReadingAt = 64 * 1024;
constexpr size_t kMaxHeld = 2 * 1024 * 1024;

us_socket_t *close_now(us_socket_t *socket) { return us.us_socket_close(0, socket, 0, nullptr); }

std::string refusal_answer(Refusal refusal) {
  const char *status = "400 Bad Request", *body = "{\"error\":\"This is not a valid HTTP/1.1 request.\"}";
  if (refusal == Refusal::TargetTooLong) {
    status = "414 URI Too Long";
    body = "{\"error\":\"The address is too long.\"}";
  } else if (refusal == Refusal::Version) {
    status = "505 HTTP Version Not Supported";
    body = "{\"error\":\"Only HTTP/1 is served here.\"}";
  } else if (refusal == Refusal::HeadTooLarge) {
    status = "431 Request Header Fields Too Large";
    body = "{\"error\":\"The request head is too large.\"}";
  }
  return std::string("HTTP/1.1 ") + status +
         "\r\nContent-Type: application/json; charset=utf-8\r\nCache-Control: no-store\r\nConnection: close\r\nContent-Length: " +
         std::to_string(strlen(body)) + "\r\n" + std::string(date_line(this_moment().seconds)) + body;
}

// Sends a response of the addon itself, the last one on its connection.
us_socket_t *end_with(us_socket_t *socket, const std::string &answer) {
  // Sent only if no response is half written. The connection ends in either case, so a lost response does no harm.
  const bool clean = !app.layout.response_pending(socket) && !(us.us_poll_events(socket) & kWritable);
  if (!clean || send_bytes(socket, answer, false) < 0) return close_now(socket);
  if (!us.tls) shutdown(us.us_poll_fd(socket), SHUT_WR);
  return end_connection(socket);
}

us_socket_t *refuse(us_socket_t *socket, Refusal refusal) { return end_with(socket, refusal_answer(refusal)); }

us_socket_t *answer_for_server(us_socket_t *socket) {
  const std::string head = "HTTP/1.1 204 No Content\r\nAllow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\nConnection: close\r\n";
  return end_with(socket, head + std::string(date_line(this_moment().seconds)));
}

us_socket_t *being_fed = nullptr;

// Calls uWS's parser once. The parser marks the end by overwriting the two bytes behind its input, which may be the next request.
us_socket_t *give_to_uws(us_socket_t *socket, char *data, size_t length) {
  char behind[kPadding];
  memcpy(behind, data + length, sizeof behind);
  const uint64_t files_before = app.files_started;
  being_fed = socket;
  us_socket_t *after = uws.data(socket, data, static_cast<int>(length));
  being_fed = nullptr;
  if (app.files_started == files_before) app.quick_request_at = uv_now(app.uv_loop);
  memcpy(data + length, behind, sizeof behind);
  return after;
}

// Rewrites a head that uWS would misread.
us_socket_t *give_in_plain_form(us_socket_t *socket, const RequestHead &request, const char *data, size_t length) {
  std::string head = in_plain_form(request, {data, length});
  const size_t size = head.size();
  head.resize(size + kPadding);
  return give_to_uws(socket, head.data(), size);
}

// Keeps the held input until the previous request is answered.
us_socket_t *wait_for_answer(Connection &connection) {
  if (connection.held.size() > kMaxHeld) return close_now(connection.socket);
  if (!connection.waiting) {
    connection.waiting = true;
    app.waiting.push_back(us.us_poll_fd(connection.socket));
    start_before_poll();
  }
  if (connection.held.size() > kPauseReadingAt && !connection.reading_paused) {
    connection.reading_paused = true;
    poll_for(connection, us.us_poll_events(connection.socket) & kWritable);
  }
  return connection.socket;
}

// Returns the end of the first head in the bytes, or 0. The first `scanned` bytes were searched before. Searches by lines, of which there are
// few: memmem takes five times as long.
size_t find_head_end(const char *data, size_t length, size_t scanned) {
  constexpr std::string_view mark = "\r\n\r\n";
  const char *const end = data + length;
  for (const char *p = data + scanned; (p = static_cast<const char *>(memchr(p, '\n', static_cast<size_t>(end - p))));) {
    p++;
    if (p - data >= 4 && !memcmp(p - mark.size(), mark.data(), mark.size())) return static_cast<size_t>(p - data);
  }
  return 0;
}

// Returns the refusal of a head that already exceeds the limit.
Refusal refusal_of_length(const char *data, size_t length) {
  const void *const line_end = memchr(data, '\n', std::min(length, kMaxRequestLine));
  return line_end ? Refusal::HeadTooLarge : Refusal::TargetTooLong;
}

// Returns the number of bytes of empty lines before a request, which are ignored (RFC 9112, 2.2).
size_t empty_lines(const char *data, size_t length) {
  size_t count = 0;
  while (length - count >= 2 && data[count] == '\r' && data[count + 1] == '\n') count += 2;
  return count;
}

bool is_line_ends_only(const char *data, size_t length) {
  return std::all_of(data, data + length, [](char c) { return c == '\r' || c == '\n'; });
}

us_socket_t *feed(us_socket_t *socket, char *data, size_t length, size_t scanned) {
  Connection *connection = find_connection(socket);
  if (connection->last_request) return socket;
  while (length > 0) {
    size_t take = 0;
    if (!connection->body.active()) {
      if (const size_t empty = data[0] == '\r' ? empty_lines(data, length) : 0) {
        data += empty;
        length -= empty;
        continue;
      }
      // uWS must not see another request yet: the previous one is unanswered, a file is being sent, or earlier responses still wait in uWS's
      // memory for a slow reader. With further requests that memory would grow without limit.
      if (has_answer_under_way(*connection)) {
        connection->held.assign(data, length);
        return wait_for_answer(*connection);
      }
      const size_t head = find_head_end(data, length, scanned);
      if (!head && length <= kMaxHead) {
        // Input that does not begin with a method (a TLS handshake) is refused without waiting for the rest; a whole head follows the same
        // rule.
        const bool is_half_line = length == 1 && data[0] == '\r';
        if (!may_begin_head(data[0]) && !is_half_line) return refuse(socket, Refusal::BadRequest);
        connection->held.assign(data, length);
        connection->scanned = is_half_line ? 0 : length;
        return socket;
      }
      if (!head || head > kMaxHead) return refuse(socket, refusal_of_length(data, length));
      const RequestHead request = read_request_head(data, head);
      if (request.refusal != Refusal::None) return refuse(socket, request.refusal);
      if (request.is_of_server) return answer_for_server(socket);
      const uint64_t files_before = app.files_started;
      if (!log_sampling.picks() && request.plain && answer_hot(*connection, request)) {
        if (app.files_started == files_before) app.quick_request_at = uv_now(app.uv_loop);
        if (us.us_socket_is_closed(0, socket) || connection->last_request) return socket;
        data += head;
        length -= head;
        scanned = 0;
        continue;
      }
      connection->body.begin(request);
      document_table.note_request(request.plain ? request.whole : std::string_view());
      take = head;
      scanned = 0;
      if (request.other_form || (request.closes && !request.closes_plainly)) {
        us_socket_t *after = give_in_plain_form(socket, request, data, head);
        if (after != socket || us.us_socket_is_closed(0, socket)) return after;
        data += head;
        length -= head;
        continue;
      }
    }
    bool malformed = false;
    const size_t skipped = take ? 0 : connection->body.skip(data, length, &malformed);
    if (!malformed) take += connection->body.take(data + take + skipped, length - take - skipped, &malformed);
    if (malformed) return refuse(socket, Refusal::BadRequest);
    data += skipped;
    length -= skipped;
    if (take == 0) continue;
    us_socket_t *after = give_to_uws(socket, data, take);
    // From here on `connection` is valid only if the socket is open.
    if (after != socket || us.us_socket_is_closed(0, socket)) return after;
    data += take;
    length -= take;
  }
  return socket;
}

us_socket_t *feed_held(Connection &connection) {
  std::string input = std::move(connection.held);
  const size_t length = input.size(), scanned = connection.scanned;
  connection.held.clear();
  connection.scanned = 0;
  input.resize(length + kPadding);
  return feed(connection.socket, input.data(), length, scanned);
}
}  // namespace

us_socket_t *socket_being_fed() { return being_fed; }

us_socket_t *on_data(us_socket_t *socket, char *data, int length) {
  Connection *connection = find_connection(socket);
  if (!connection) return uws.data(socket, data, length);
  // Line ends before a request are ignored, so they do not count as its beginning: an idle connection that sends them is closed as well.
  if (connection->idle_extended && !is_line_ends_only(data, static_cast<size_t>(length))) {
    connection->idle_extended = false;
    us.us_socket_timeout(0, socket, kUwsIdleSeconds);
  }
  if (connection->held.empty()) return feed(socket, data, static_cast<size_t>(length), 0);
  connection->held.append(data, static_cast<size_t>(length));
  return connection->waiting ? wait_for_answer(*connection) : feed_held(*connection);
}

void feed_waiting() {
  std::vector<int> candidates;
  candidates.swap(app.waiting);
  for (int fd : candidates) {
    Connection *connection = find_connection(fd);
    if (!connection || !connection->waiting) continue;  // closed, and its number may be that of another connection now
    if (has_answer_under_way(*connection)) {
      app.waiting.push_back(fd);
      continue;
    }
    connection->waiting = false;
    if (connection->reading_paused) {
      connection->reading_paused = false;
      poll_for(*connection, false);
    }
    feed_held(*connection);
  }
}
