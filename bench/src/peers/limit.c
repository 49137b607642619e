// The limit of this kernel for a server of tiles over connections that stay open: one loop over `epoll` reads, finds the end of each head, and
// sends a fixed head and as many bytes from memory as the path says ("GET /12345"). It checks nothing, keeps no table, and reads no file.
// limit PORT MOST_BYTES
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PIPELINED = 64, READ_BYTES = 65536, EVENTS = 256 };

typedef struct {
  int socket;
  // Sizes of the bodies that were asked for, from `first` to `last`.
  int sizes[PIPELINED], first, last;
  char head[512];
  // Bytes of the current head, and how many of it and of its body were sent.
  int head_bytes, head_sent, body_sent;
  // The end of a read, if a head was cut off: one whole head at most.
  char rest[4096];
  int rest_bytes;
  int waits_to_write;
} Connection;

static char *body;
static int most_bytes;

static void prepare(Connection *c) {
  c->head_sent = c->body_sent = 0;
  c->head_bytes = snprintf(c->head, sizeof c->head,
                           "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nCache-Control: public, max-age=31536000, immutable\r\n"
                           "Vary: Authorization, X-Access-Token\r\nETag: \"0123456789abcdef\"\r\n"
                           "Last-Modified: Thu, 26 Nov 2026 20:52:28 GMT\r\nAccess-Control-Allow-Origin: *\r\n"
                           "Cross-Origin-Resource-Policy: cross-origin\r\nContent-Length: %d\r\n\r\n",
                           c->sizes[c->first % PIPELINED]);
}

// Returns 0 if everything was sent, 1 if the socket is full, and -1 if it is broken.
static int send_pending(Connection *c) {
  while (c->first < c->last) {
    if (c->head_bytes == 0) prepare(c);
    int size = c->sizes[c->first % PIPELINED];
    struct iovec parts[2] = {{c->head + c->head_sent, (size_t)(c->head_bytes - c->head_sent)},
                             {body + c->body_sent, (size_t)(size - c->body_sent)}};
    ssize_t sent = writev(c->socket, parts, 2);
    if (sent < 0) return errno == EAGAIN ? 1 : -1;
    int of_head = (int)parts[0].iov_len < sent ? (int)parts[0].iov_len : (int)sent;
    c->head_sent += of_head;
    c->body_sent += (int)sent - of_head;
    if (c->head_sent == c->head_bytes && c->body_sent == size) {
      c->first++;
      c->head_bytes = 0;
    }
  }
  return 0;
}

// Returns -1 if the connection has ended, or sends more than this program keeps.
static int read_requests(Connection *c) {
  static char in[sizeof c->rest + READ_BYTES];
  memcpy(in, c->rest, (size_t)c->rest_bytes);
  ssize_t got = recv(c->socket, in + c->rest_bytes, READ_BYTES, 0);
  if (got <= 0) return got < 0 && errno == EAGAIN ? 0 : -1;
  char *at = in, *end = in + c->rest_bytes + got, *stop;
  while ((stop = memmem(at, (size_t)(end - at), "\r\n\r\n", 4)) != NULL) {
    int size = end - at > 5 ? atoi(at + 5) : 0;
    if (size < 0 || size > most_bytes || c->last - c->first == PIPELINED) return -1;
    c->sizes[c->last++ % PIPELINED] = size;
    at = stop + 4;
  }
  if (end - at > (long)sizeof c->rest) return -1;
  c->rest_bytes = (int)(end - at);
  memcpy(c->rest, at, (size_t)c->rest_bytes);
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  signal(SIGPIPE, SIG_IGN);
  most_bytes = atoi(argv[2]);
  body = malloc((size_t)most_bytes);
  if (body == NULL) return 1;
  memset(body, 'a', (size_t)most_bytes);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(listener, (void *)&address, sizeof address) != 0 || listen(listener, 4096) != 0) return 1;
  int poll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL}, events[EVENTS];
  epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
  for (;;) {
    int count = epoll_wait(poll, events, EVENTS, -1);
    for (int i = 0; i < count; i++) {
      Connection *c = events[i].data.ptr;
      if (c == NULL) {
        for (int socket; (socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0;) {
          setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
          c = calloc(1, sizeof *c);
          if (c == NULL) return 1;
          c->socket = socket;
          event = (struct epoll_event){.events = EPOLLIN, .data.ptr = c};
          epoll_ctl(poll, EPOLL_CTL_ADD, socket, &event);
        }
        continue;
      }
      int state = (events[i].events & EPOLLOUT) ? 0 : read_requests(c);
      if (state == 0) state = send_pending(c);
      if (state < 0) {
        close(c->socket);
        free(c);
      } else if (state != c->waits_to_write) {
        c->waits_to_write = state;
        event = (struct epoll_event){.events = state ? EPOLLOUT : EPOLLIN, .data.ptr = c};
        epoll_ctl(poll, EPOLL_CTL_MOD, c->socket, &event);
      }
    }
  }
}
