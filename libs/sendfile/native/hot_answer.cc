#include "hot_answer.h"

#include <errno.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include <algorithm>

#include "hot_table.h"

HotCounts hot_counts;

namespace {
// As uWS does after an answer.
constexpr unsigned kIdleSeconds = 10;

// "Date: ... GMT", the end of every head; made once a second.
std::string_view date_line(time_t now) {
  static time_t made_for = 0;
  static char line[64];
  static size_t size = 0;
  if (now != made_for) {
    tm utc;
    gmtime_r(&now, &utc);
    size = strftime(line, sizeof line, "Date: %a, %d %b %Y %H:%M:%S GMT\r\n\r\n", &utc);
    made_for = now;
  }
  return {line, size};
}

// A head, its date and a body as one sequence of bytes, and how much of it has gone.
struct Answer {
  TilePointer tile;  // keeps what the views below look at
  std::string_view head, body;
  char date[64];
  size_t date_size;
  size_t sent = 0;

  Answer(TilePointer &&it, bool not_modified, std::string_view line) : tile(std::move(it)), date_size(line.copy(date, sizeof date)) {
    head = not_modified ? tile->not_modified : tile->head;
    if (!not_modified) body = tile->body;
  }
  size_t size() const { return head.size() + date_size + body.size(); }
  Pumped send_some(int fd);
};

Pumped Answer::send_some(int fd) {
  iovec parts[] = {{const_cast<char *>(head.data()), head.size()},
                   {date, date_size},
                   {const_cast<char *>(body.data()), body.size()}};
  size_t skip = sent;
  for (iovec &part : parts) {
    const size_t n = std::min(skip, part.iov_len);
    part.iov_base = static_cast<char *>(part.iov_base) + n;
    part.iov_len -= n;
    skip -= n;
  }
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 3;
  const ssize_t n = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n < 0) return errno == EAGAIN || errno == EINTR ? Pumped::Again : Pumped::PeerGone;
  sent += static_cast<size_t>(n);
  return sent == size() ? Pumped::All : Pumped::Again;
}

// The rest of an answer that the kernel did not take at once. It keeps the tile alive, but copies nothing.
class HotTransfer : public Transfer {
 public:
  explicit HotTransfer(Answer answer) : Transfer(answer.size()), answer_(std::move(answer)) { left = length - answer_.sent; }
  Pumped pump(int fd) override {
    const Pumped pumped = answer_.send_some(fd);
    left = length - answer_.sent;
    return pumped;
  }
  void ended(Outcome) override {}  // uWS knows nothing of this request, and neither does JavaScript

 private:
  Answer answer_;
};

// `query` is what follows the question mark.
Credential credential_of(const RequestHead &request, std::string_view query) {
  constexpr std::string_view bearer = "Bearer ", token = "token=", access_token = "access_token=";
  const int ways = !request.authorization.empty() + !request.x_access_token.empty() + !query.empty();
  if (ways == 0) return {Credential::None};
  if (ways > 1) return {};
  if (!request.x_access_token.empty()) return {Credential::Token, request.x_access_token};
  if (!request.authorization.empty()) {
    const bool is_bearer = request.authorization.size() > bearer.size() &&
                           strncasecmp(request.authorization.data(), bearer.data(), bearer.size()) == 0;
    return is_bearer ? Credential{Credential::Token, request.authorization.substr(bearer.size())} : Credential();
  }
  // Anything else in the query, an encoded character for example, makes a text that is neither a token of the table nor plain.
  if (query.substr(0, token.size()) == token) return {Credential::Token, query.substr(token.size())};
  if (query.substr(0, access_token.size()) == access_token) return {Credential::Token, query.substr(access_token.size())};
  return {};
}

// Weights ("gzip;q=0") are left to JavaScript.
bool accepts_gzip(std::string_view accept_encoding) {
  return accept_encoding.find("gzip") != std::string_view::npos && accept_encoding.find(';') == std::string_view::npos;
}
enum class Match { Same, Other, Unclear };

// If-None-Match against the tile's tag, weakly, as RFC 9110, 13.1.2 wants it. Lists and "*" are left to JavaScript.
Match compare_tags(std::string_view if_none_match, std::string_view etag) {
  if (if_none_match.substr(0, 2) == "W/") if_none_match.remove_prefix(2);
  if (etag.empty() || if_none_match.size() < 2 || if_none_match.front() != '"') return Match::Unclear;
  if (if_none_match.find('"', 1) != if_none_match.size() - 1) return Match::Unclear;
  return if_none_match == etag ? Match::Same : Match::Other;
}
}  // namespace

bool answer_hot(Connection &connection, const RequestHead &request) {
  if (!hot_table.in_use()) return false;
  const size_t question = std::min(request.target.find('?'), request.target.size());
  const std::string_view query = request.target.substr(std::min(question + 1, request.target.size()));
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const int64_t milliseconds = static_cast<int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
  HotTable::Found found = hot_table.find(request.target.substr(0, question), credential_of(request, query), milliseconds);
  if (!found.answer) return false;
  Match match = Match::Other;
  if (!found.refused) {
    if (found.answer->needs_gzip && !accepts_gzip(request.accept_encoding)) return false;
    if (!request.if_none_match.empty()) match = compare_tags(request.if_none_match, found.answer->etag);
    if (match == Match::Unclear) return false;
    hot_counts.answers++;
  }
  Answer answer(std::move(found.answer), match == Match::Same, date_line(now.tv_sec));
  hot_counts.body_bytes += answer.body.size();
  us_socket_t *socket = connection.socket;
  us.us_socket_timeout(0, socket, kIdleSeconds);
  const Pumped pumped = answer.send_some(us.us_poll_fd(socket));
  if (pumped == Pumped::PeerGone) us.us_socket_close(0, socket, 0, nullptr);
  else if (pumped != Pumped::All) begin_transfer(connection, std::make_unique<HotTransfer>(std::move(answer)), Pumped::Again);
  return true;
}
