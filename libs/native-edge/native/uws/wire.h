// Sending to a client: over plain TCP by the kernel's calls, over TLS through uSockets, which encrypts.
//
// Both tell how many bytes were taken, as send(2) does. Below 0 none was: EAGAIN, once the connection is writable; anything else, never. TLS takes
// whole records, and wants one that it could not send again as it was. So what follows a failure begins with the very bytes that were left.
#pragma once
#include <string_view>
#include <sys/types.h>
#include <sys/uio.h>

#include "usockets.h"

// `more`: a file or another part comes right behind.
ssize_t send_bytes(us_socket_t *socket, std::string_view bytes, bool more);
ssize_t send_parts(us_socket_t *socket, const iovec *parts, int count, bool more);
// 0: the file ends before `offset`, which is moved by what was taken.
ssize_t send_file(us_socket_t *socket, int file, off_t *offset, size_t length);

// Ends a connection whose last answer has been taken. TLS tells the client that nothing was cut.
us_socket_t *end_connection(us_socket_t *socket);
