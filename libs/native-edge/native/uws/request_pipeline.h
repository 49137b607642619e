// Passes requests to uWS one at a time.
//
// uWS parses all bytes that have arrived, and calls the route handler for each complete request in them. The on_data hook avoids
// three consequences of that by passing uWS one complete request after the other:
// - A request that arrives while the previous one is unanswered makes uWS close the connection. Here it is held until the
//   response is complete. This lets a client pipeline behind a file that takes a while, or behind a handler that awaits
//   something.
// - uWS 20.0 returns 505 to some request lines that are split over two packets. Here a head is held until it is complete.
// - Malformed requests are refused at once (request_head.h).
// Bodies are never held or searched: once a head gives the length of its body, that many bytes pass straight through, with any
// content.
#pragma once
#include "usockets.h"

us_socket_t *on_data(us_socket_t *socket, char *data, int length);

// Passes to uWS the held input of connections whose last request has been answered meanwhile.
void feed_waiting();

// Returns the connection whose bytes uWS is parsing, that is, whose route handler is running; null otherwise.
us_socket_t *socket_being_fed();
