// Keep-alive HTTP/1.1 load for a server on 127.0.0.1. Bodies are discarded in the kernel (MSG_TRUNC), so that this side costs far
// less than the server and does not distort the measurement.
//
//   load PORT CONNECTIONS SECONDS REQUESTS RATE [tls]
//
// REQUESTS is a file with one request per line: the path, preceded by "HEAD " for that method, then header lines, separated by tabs.
// Connections take the lines of the file in turn, and start again after the last one. RATE limits the requests per second of all connections
// together; 0: no limit. With "tls", connections are encrypted (without certificate checks and session resumption), and bodies are decrypted
// before they are discarded. The body of a chunked response ends with its last chunk, which must be without trailers. A request with "Connection: close" has a separate connection, and its latency includes connecting. Prints one line
// of JSON; latencies in microseconds run from sending a request to the last byte of its response.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { kHeadBytes = 4096, kEvents = 256, kMaxLatency = 5 * 1000 * 1000, kStatuses = 600, kMaxConnections = 16384, kAddresses = 60, kTailBytes = 7 };

struct request {
  char *text;
  size_t length;
  bool is_head;  // the response has no body, whatever length it announces
  bool is_last;  // the connection ends with the response
};

struct connection {
  int fd;
  SSL *tls;           // null: not encrypted
  bool busy;          // a request is in progress
  bool unsent;        // the handshake has to end first
  bool in_body;       // the head of the response has been read
  bool closes;        // the connection ends with this response
  bool chunked;       // the length of the body is not known: `left` is 1 until its end has come
  const struct request *request;
  uint64_t left;      // body bytes still to come
  double sent_at;
  double due_at;      // with a rate: time of the next request
  size_t head_length;
  char head[kHeadBytes];
  char tail[kTailBytes];  // the last bytes of a chunked body
};

static int port, epoll_fd;
static SSL_CTX *tls_context;  // null: connections are not encrypted
static struct request *requests;
static size_t request_count, next_request;
static double pause_between;  // pause of one connection, in seconds; 0: no rate
static uint64_t answers, body_bytes, failures, statuses[kStatuses];
static uint32_t latencies[kMaxLatency + 1];

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// "path<TAB>header<TAB>header" becomes a whole request.
static struct request make_request(char *line) {
  char *rest = line;
  const char *path = strsep(&rest, "\t");
  struct request request = {0};
  request.is_head = strncmp(path, "HEAD ", 5) == 0;
  if (request.is_head) path += 5;
  FILE *out = open_memstream(&request.text, &request.length);
  fprintf(out, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n", request.is_head ? "HEAD" : "GET", path, port);
  for (const char *header; (header = strsep(&rest, "\t"));) {
    fprintf(out, "%s\r\n", header);
    if (strcmp(header, "Connection: close") == 0) request.is_last = true;
  }
  fputs("\r\n", out);
  fclose(out);
  return request;
}

static void read_requests(const char *file) {
  FILE *in = fopen(file, "r");
  if (!in) fail(file);
  char *line = NULL;
  size_t room = 0, places = 0;
  while (getline(&line, &room, in) > 0) {
    line[strcspn(line, "\n")] = 0;
    if (request_count == places) requests = realloc(requests, (places = places * 2 + 1024) * sizeof *requests);
    requests[request_count++] = make_request(line);
  }
  free(line);
  fclose(in);
  if (!request_count) fail("no request");
}

// Alternates between many addresses of this machine, because short-lived connections would exhaust the ports of one address.
static void bind_to_next(int fd) {
  static uint32_t next;
  const struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + next++ % kAddresses)};
  const int on = 1;
  setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  if (bind(fd, (const struct sockaddr *)&own, sizeof own)) fail("bind");
}

static void open_connection(struct connection *c) {
  const struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  const int on = 1;
  c->fd = socket(AF_INET, SOCK_STREAM, 0);
  if (c->fd < 0) fail("socket");
  c->busy = false;
  bind_to_next(c->fd);
  setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (connect(c->fd, (const struct sockaddr *)&address, sizeof address)) fail("connect");
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
  epoll_ctl(epoll_fd, EPOLL_CTL_ADD, c->fd, &event);
  if (!tls_context) return;
  c->tls = SSL_new(tls_context);
  SSL_set_fd(c->tls, c->fd);
  SSL_set_connect_state(c->tls);
}

static void close_connection(struct connection *c) {
  SSL_free(c->tls);
  c->tls = NULL;
  close(c->fd);
}

static void reopen(struct connection *c) {
  close_connection(c);
  open_connection(c);
}

// Like a non-blocking recv(2); returns EAGAIN also during a handshake.
static ssize_t receive(struct connection *c, char *into, size_t room) {
  static char discarded[256 * 1024];
  if (!c->tls) return recv(c->fd, into, room, into ? MSG_DONTWAIT : MSG_TRUNC | MSG_DONTWAIT);
  if (!into) into = discarded, room = room < sizeof discarded ? room : sizeof discarded;
  const int n = SSL_read(c->tls, into, (int)room);
  if (n > 0) return n;
  const int error = SSL_get_error(c->tls, n);
  errno = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? EAGAIN : EPIPE;
  return error == SSL_ERROR_ZERO_RETURN ? 0 : -1;
}

// A request is small, so the kernel accepts all of it. Returns false if the connection was lost. Over TLS the request follows the handshake.
static bool send_request(struct connection *c) {
  const struct request *request = c->request;
  if (!c->tls) return send(c->fd, request->text, request->length, MSG_NOSIGNAL) == (ssize_t)request->length;
  c->unsent = SSL_write(c->tls, request->text, (int)request->length) != (int)request->length;
  return !c->unsent || SSL_want_read(c->tls);
}

static void fail_connection(struct connection *c) {
  failures++;
  reopen(c);
}

static void send_next(struct connection *c, double time) {
  const struct request *request = &requests[next_request];
  next_request = (next_request + 1) % request_count;
  c->request = request;
  c->busy = true;
  c->in_body = false;
  c->head_length = 0;
  c->sent_at = time;
  if (!send_request(c)) fail_connection(c);
}

// Notes the end of what has come of a chunked body.
static void take_chunked(struct connection *c, const char *bytes, size_t count) {
  body_bytes += count;
  const size_t taken = count < kTailBytes ? count : kTailBytes;
  memmove(c->tail, c->tail + taken, kTailBytes - taken);
  memcpy(c->tail + kTailBytes - taken, bytes + count - taken, taken);
  if (memcmp(c->tail, "\r\n0\r\n\r\n", kTailBytes) == 0) c->left = 0;
}

// Returns false if the head is incomplete, or if the connection was lost.
static bool read_head(struct connection *c) {
  const ssize_t n = receive(c, c->head + c->head_length, kHeadBytes - 1 - c->head_length);
  if (n < 0 && errno == EAGAIN) return false;
  if (n <= 0) return fail_connection(c), false;
  c->head_length += (size_t)n;
  c->head[c->head_length] = 0;
  const char *end = strstr(c->head, "\r\n\r\n");
  if (!end) return false;
  const int status = atoi(c->head + strlen("HTTP/1.1 "));
  const char *length = strcasestr(c->head, "\r\ncontent-length:");
  const char *close_field = strcasestr(c->head, "\r\nconnection: close");
  c->closes = c->request->is_last || (close_field && close_field < end);
  const bool has_body = length && length < end && status != 304 && !c->request->is_head;
  const uint64_t total = has_body ? strtoull(length + strlen("\r\ncontent-length:"), NULL, 10) : 0;
  const uint64_t come = (uint64_t)(c->head + c->head_length - (end + 4));
  statuses[status > 0 && status < kStatuses ? status : 0]++;
  const char *coding = strcasestr(c->head, "\r\ntransfer-encoding: chunked");
  c->chunked = coding && coding < end && !c->request->is_head;
  if (c->chunked) {
    c->left = 1;
    memcpy(c->tail, "     \r\n", kTailBytes);
    take_chunked(c, end + 4, come);
    c->in_body = true;
    return true;
  }
  body_bytes += total < come ? total : come;
  c->left = total > come ? total - come : 0;
  c->in_body = true;
  return true;
}

static void read_body(struct connection *c) {
  static char chunks[64 * 1024];
  while (c->left > 0) {
    const ssize_t n = receive(c, c->chunked ? chunks : NULL, c->chunked ? sizeof chunks : c->left);
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) return fail_connection(c);
    if (c->chunked) {
      take_chunked(c, chunks, (size_t)n);
      continue;
    }
    body_bytes += (uint64_t)n;
    c->left -= (uint64_t)n;
  }
}

static void take_answer(struct connection *c) {
  if (c->unsent && !send_request(c)) return fail_connection(c);
  if (c->unsent) return;
  if (!c->in_body && !read_head(c)) return;
  read_body(c);
  if (!c->busy || c->left > 0) return;
  const double time = now();
  const double microseconds = (time - c->sent_at) * 1e6;
  latencies[microseconds < kMaxLatency ? (size_t)microseconds : kMaxLatency]++;
  answers++;
  c->busy = false;
  if (c->closes) reopen(c);
  if (pause_between == 0) send_next(c, time);
  else c->due_at += pause_between;
}

static size_t percentile(double share) {
  uint64_t seen = 0;
  for (size_t i = 0; i <= kMaxLatency; i++) {
    seen += latencies[i];
    if (seen && (double)seen >= share * (double)answers) return i;
  }
  return 0;
}

static void print_result(double seconds) {
  printf("{\"requests\":%lu,\"seconds\":%.6f,\"bytes\":%lu,\"failures\":%lu,\"statuses\":{", answers, seconds, body_bytes, failures);
  const char *comma = "";
  for (int i = 0; i < kStatuses; i++) {
    if (!statuses[i]) continue;
    printf("%s\"%d\":%lu", comma, i, statuses[i]);
    comma = ",";
  }
  printf("},\"p50\":%zu,\"p90\":%zu,\"p99\":%zu,\"p999\":%zu}\n", percentile(.5), percentile(.9), percentile(.99), percentile(.999));
}

static void allow_files(rlim_t count) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= count) return;
  limit.rlim_cur = count;
  if (setrlimit(RLIMIT_NOFILE, &limit)) fail("the limit of open files");
}

int main(int argc, char **argv) {
  if (argc < 6) return fputs("usage: load PORT CONNECTIONS SECONDS REQUESTS RATE [tls]\n", stderr), 2;
  port = atoi(argv[1]);
  const int count = atoi(argv[2]);
  const double seconds = atof(argv[3]);
  const double rate = atof(argv[5]);
  if (argc > 6) tls_context = SSL_CTX_new(TLS_client_method());
  signal(SIGPIPE, SIG_IGN);
  if (count < 1 || count > kMaxConnections) return fputs("too many connections, or none\n", stderr), 2;
  allow_files((rlim_t)count + 64);
  read_requests(argv[4]);
  pause_between = rate > 0 ? count / rate : 0;
  epoll_fd = epoll_create1(0);
  struct connection *all = calloc((size_t)count, sizeof *all);
  for (int i = 0; i < count; i++) open_connection(&all[i]);

  const double start = now(), end = start + seconds;
  for (int i = 0; i < count; i++) {
    all[i].due_at = start + pause_between * i / count;
    if (rate == 0) send_next(&all[i], start);
  }
  struct epoll_event events[kEvents];
  for (double time = start; time < end; time = now()) {
    const int ready = epoll_wait(epoll_fd, events, kEvents, rate > 0 ? 1 : 100);
    for (int i = 0; i < ready; i++) {
      struct connection *c = events[i].data.ptr;
      if (c->busy) take_answer(c);
      else fail_connection(c);  // closed while idle
      if (rate == 0 && !c->busy) send_next(c, now());
    }
    if (rate == 0) continue;
    time = now();
    for (int i = 0; i < count; i++) {
      if (!all[i].busy && all[i].due_at <= time) send_next(&all[i], time);
    }
  }
  print_result(now() - start);
  return 0;
}
