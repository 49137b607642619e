// Sends to a client: over plain TCP by system calls, over TLS through uSockets, which encrypts.
//
// Both return the number of accepted bytes, as send(2) does. Below 0 none was accepted: after EAGAIN the caller retries when the connection is
// writable, after any other error never. TLS accepts whole records, and requires that a record it could not send is offered again unchanged. So
// the call after a failure must begin with exactly the bytes that were left.
#pragma once
#include <string_view>
#include <sys/types.h>
#include <sys/uio.h>

#include "usockets.h"

// `more`: a file or another part follows immediately.
ssize_t send_bytes(us_socket_t *socket, std::string_view bytes, bool more);
ssize_t send_parts(us_socket_t *socket, const iovec *parts, int count, bool more);
// Returns 0 if the file ends before `offset`. `offset` is advanced by the accepted bytes.
ssize_t send_file(us_socket_t *socket, int file, off_t *offset, size_t length);

// Ends a connection whose last response was accepted. Over TLS, tells the client that nothing was cut.
us_socket_t *end_connection(us_socket_t *socket);
