#include "tile_response.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include <algorithm>

#include "../cold_tiles/cold_response.h"
#include "../cold_tiles/wmts_tile.h"
#include "../documents/document_response.h"
#include "../transfer/copy_limit.h"
#include "../transfer/file_transfer.h"
#include "../uws/wire.h"
#include "answer_times.h"
#include "request_fields.h"
#include "response_table.h"
#include "sampled_tiles.h"

ResponseCounts hot_counts;

// Formats the line once per second.
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

namespace {
constexpr size_t kSmallHead = 2048;
constexpr std::string_view kLastLine = "Connection: close\r\n\r\n";

// A head, its date and a body as one sequence of bytes, and the number of bytes sent.
struct Answer {
  TilePointer tile;  // owns the memory of the views below
  std::string_view head, body;
  char date[96];
  size_t date_size;
  bool is_last;
  size_t sent = 0;

  Answer(TilePointer &&it, const Wanted &wanted, std::string_view line)
      : tile(std::move(it)), date_size(line.copy(date, sizeof date)), is_last(wanted.is_last) {
    head = wanted.not_modified ? tile->not_modified : tile->head;
    if (!wanted.not_modified && !wanted.head_only) body = tile->body;
    // Replaces the empty line.
    if (is_last) date_size += kLastLine.copy(date + date_size - 2, kLastLine.size()) - 2;
  }
  size_t size() const { return head.size() + date_size + body.size(); }
  // `more`: a file follows.
  Pumped send_some(us_socket_t *socket, bool more = false);

 private:
  Pumped send_head(us_socket_t *socket, bool more);
  Pumped count(ssize_t n) {
    if (n < 0) return errno == EAGAIN || errno == EINTR ? Pumped::Again : Pumped::PeerGone;
    sent += static_cast<size_t>(n);
    return sent == size() ? Pumped::All : Pumped::Again;
  }
};

// Sends in one piece: for a few hundred bytes copying costs less than a vector.
Pumped Answer::send_head(us_socket_t *socket, bool more) {
  char whole[kSmallHead];
  memcpy(whole, head.data(), head.size());
  memcpy(whole + head.size(), date, date_size);
  return count(send_bytes(socket, {whole, size()}, more));
}

Pumped Answer::send_some(us_socket_t *socket, bool more) {
  if (body.empty() && sent == 0 && size() <= kSmallHead) return send_head(socket, more);
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
  return count(send_parts(socket, parts, 3, more));
}

// The rest of a response that the kernel did not accept at once. It keeps the tile alive, and copies nothing.
class ResponseTransfer : public Transfer {
 public:
  explicit ResponseTransfer(Answer answer) : Transfer(answer.size()), answer_(std::move(answer)) {
    left = length - answer_.sent;
    is_last = answer_.is_last;
  }
  Pumped pump(us_socket_t *socket) override {
    const Pumped pumped = answer_.send_some(socket);
    left = length - answer_.sent;
    return pumped;
  }
  void ended(Outcome) override {}  // neither uWS nor JavaScript knows of this request

 private:
  Answer answer_;
};

// Time in ms for which a range of a file that was found in the page cache counts as cached, and its file as unchanged.
constexpr int64_t kResidencyMs = 1'000;

// A tile that is sent by reference: its head from memory, its body from its file.
class TileFileTransfer : public FileTransfer {
 public:
  TileFileTransfer(Answer head, const Parties &parties)
      : FileTransfer(head.tile->range.file->fd, head.tile->range.offset, head.tile->range.length), head_(std::move(head)), parties_(parties) {
    is_last = head_.is_last;
  }
  // The kernel evicts pages in the order of their use, so pages that were just found in memory and sent are the last to go.
  bool is_in_memory(int64_t now) {
    const FileRange &range = head_.tile->range;
    const size_t stretch = choose_stretch();
    if (now < range.in_memory_until && stretch <= range.in_memory) return true;
    if (is_cold() || !range.is_unchanged()) return false;
    range.in_memory = stretch;
    range.in_memory_until = now + kResidencyMs;
    return true;
  }
  Pumped start(us_socket_t *socket) {
    const Pumped head = send_head(socket);
    return head == Pumped::All ? send_stretch(socket) : head;
  }
  Pumped pump(us_socket_t *socket) override {
    const Pumped head = send_head(socket);
    return head == Pumped::All ? FileTransfer::pump(socket) : head;
  }
  void ended(Outcome outcome) override { count(outcome); }
  // A file that ends early was cut since it was checked; JavaScript checks it again.
  void count(Outcome outcome) {
    hot_counts.body_bytes += length - left;
    parties_.add({0, 0, 0, length - left});
    if (outcome == Outcome::Stalled) hot_counts.stalled++;
    if (outcome != Outcome::Truncated) return;
    hot_counts.truncated++;
    response_table.drop_tile(head_.tile->target);
  }

 private:
  Pumped send_head(us_socket_t *socket) { return head_.sent == head_.size() ? Pumped::All : head_.send_some(socket, true); }

  Answer head_;
  const Parties parties_;
};

// `sent` is the number of bytes of head and body already sent. False if nothing was sent and the first range is not completely in memory. JavaScript
// counts such requests and waits for them when it drains.
bool send_file(Connection &connection, Answer head, int64_t now, const Parties &parties, size_t sent) {
  head.sent = std::min(sent, head.size());
  const size_t skipped = sent - head.sent;
  // On the stack, because most transfers complete at once.
  TileFileTransfer transfer(std::move(head), parties);
  transfer.skip(skipped);
  const bool is_in_memory = transfer.is_in_memory(now);
  if (!is_in_memory && !sent) return false;
  us_socket_t *socket = connection.socket;
  if (transfer.length > kMostCopied) app.files_started++;
  if (!is_in_memory) {
    begin_transfer(connection, std::make_unique<TileFileTransfer>(transfer), Pumped::Cold);
    return true;
  }
  us.us_socket_timeout(0, socket, kUwsIdleSeconds);
  switch (const Pumped pumped = transfer.start(socket)) {
    case Pumped::All:
      transfer.count(Outcome::Sent);
      if (transfer.is_last) end_connection(socket);
      break;
    case Pumped::Again:
      begin_transfer(connection, std::make_unique<TileFileTransfer>(transfer), pumped);
      break;
    default:
      transfer.count(pumped == Pumped::Truncated ? Outcome::Truncated : Outcome::Aborted);
      us.us_socket_close(0, socket, 0, nullptr);
  }
  return true;
}

#ifdef CLOCK_MONOTONIC_COARSE
constexpr clockid_t kUptimeClock = CLOCK_MONOTONIC_COARSE;  // some milliseconds late, but free if reading the exact clock is not
#else
constexpr clockid_t kUptimeClock = CLOCK_MONOTONIC;
#endif

int64_t milliseconds(const timespec &time) { return static_cast<int64_t>(time.tv_sec) * 1000 + time.tv_nsec / 1'000'000; }
}  // namespace

Now this_moment() {
  timespec calendar, uptime;
  clock_gettime(CLOCK_REALTIME, &calendar);
  clock_gettime(kUptimeClock, &uptime);
  return {{milliseconds(calendar), milliseconds(uptime)}, calendar.tv_sec};
}

Wanted wanted_of(const RequestHead &request) { return {request.is_head, false, request.closes}; }

bool choose(const RequestHead &request, const TileParts &tile, Wanted *wanted) {
  *wanted = wanted_of(request);
  if (tile.needs_gzip && !accepts_gzip(request.accept_encoding)) return false;
  // Most requests name no copy, and the data to compare with is in another cache line of the processor.
  if (request.if_none_match.empty() && request.if_modified_since.empty()) return true;
  const Copy copy = judge_copy(request, tile.etag, tile.modified);
  wanted->not_modified = copy == Copy::Good;
  return copy != Copy::Unclear;
}

bool send_tile(Connection &connection, TilePointer tile, const Wanted &wanted, const Now &now, const Parties &parties, size_t sent) {
  const bool from_file = tile->is_file() && !wanted.not_modified && !wanted.head_only;
  Answer answer(std::move(tile), wanted, date_line(now.seconds));
  if (from_file) return send_file(connection, std::move(answer), now.monotonic, parties, sent);
  answer.sent = sent;
  hot_counts.body_bytes += answer.body.size();
  parties.add({0, 0, 0, answer.body.size()});
  us_socket_t *socket = connection.socket;
  us.us_socket_timeout(0, socket, kUwsIdleSeconds);
  const Pumped pumped = answer.send_some(socket);
  if (pumped == Pumped::PeerGone) us.us_socket_close(0, socket, 0, nullptr);
  else if (pumped == Pumped::All && answer.is_last) end_connection(socket);
  else if (pumped != Pumped::All) begin_transfer(connection, std::make_unique<ResponseTransfer>(std::move(answer)), Pumped::Again);
  return true;
}

namespace {
// False for tiles, which are never among the documents.
bool may_be_document(std::string_view path) {
  constexpr std::string_view tiles = "/tiles/", json = ".json";
  return path.substr(0, tiles.size()) != tiles || (path.size() > json.size() && path.substr(path.size() - json.size()) == json);
}

// True if the query requests a tile at a time, for which JavaScript finds the version.
bool names_time(std::string_view query) {
  constexpr std::string_view name = "at=";
  for (size_t at = query.find(name); at != query.npos; at = query.find(name, at + 1)) {
    if (at == 0 || query[at - 1] == '&') return true;
  }
  return false;
}

bool answer(Connection &connection, const RequestHead &request) {
  if (!response_table.in_use()) return false;
  const size_t question = std::min(request.target.find('?'), request.target.size());
  std::string_view path = request.target.substr(0, question);
  const std::string_view query = request.target.substr(std::min(question + 1, request.target.size()));
  const Now now = this_moment();
  Credential credential = credential_of(request, query);
  if (path == kWmtsPath) {
    // The WMTS does not accept signed URLs, and has its own texts for refusals.
    path = wmts_tile_path(query, now.monotonic);
    if (path.empty()) return answer_document(connection, request, credential, now);
    if (request.is_head || credential.is_signed) return false;
    credential.may_refuse = false;
  }
  if (names_time(query) && !may_be_document(path)) return false;
  ResponseTable::Found found = response_table.find(path, credential, now);
  if (found.is_left) return false;
  if (!found.answer) {
    if (may_be_document(path) && answer_document(connection, request, credential, now)) return true;
    return answer_cold(connection, request, path, query, credential, now);
  }
  Wanted wanted = wanted_of(request);
  if (!found.refused && !choose(request, found.answer.parts(), &wanted)) return false;
  if (!send_tile(connection, std::move(found.answer), wanted, now, found.parties)) return false;
  if (found.refused) return true;
  found.parties.add({1, 1, 0, 0});
  sampled_tiles.note(found.parties.version, path, false);
  hot_counts.answers++;
  if (wanted.not_modified) hot_counts.not_modified++;
  return true;
}
}  // namespace

bool answer_hot(Connection &connection, const RequestHead &request) {
  static uint32_t seen = 0;
  if (++seen % AnswerTimes::kTimedEvery != 0) return answer(connection, request);
  const ResponseCounts before = hot_counts;
  const auto begun = AnswerTimes::Clock::now();
  if (!answer(connection, request)) return false;
  const bool is_tile = hot_counts.answers != before.answers, is_cold = hot_counts.cold != before.cold;
  const bool is_document = hot_counts.tile_documents != before.tile_documents, is_catalog = hot_counts.catalog_documents != before.catalog_documents;
  AnswerTimes &times = is_document  ? times_of_tile_documents
                       : is_catalog ? times_of_catalog_documents
                       : !is_tile   ? times_of_refusals
                       : is_cold    ? times_in_page_cache
                                    : times_in_memory;
  times.add(AnswerTimes::Clock::now() - begun);
  return true;
}
