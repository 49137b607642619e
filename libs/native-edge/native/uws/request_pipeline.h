// Handing requests to uWS one at a time.
//
// uWS parses whatever has arrived and calls the route handler for each complete request in it. That has three consequences which
// the on_data hook mends by giving uWS one complete request after the other:
// - A request that comes while the one before is unanswered makes uWS close the connection. Here it is held until the answer is
//   complete. That is what lets a client pipeline behind a file that takes a while, or behind a handler that awaits something.
// - uWS 20.0 answers 505 to some request lines that are split over two packets. Here a head is held until it is whole.
// - Malformed requests are refused at once (request_head.h).
// Bodies are never held nor searched: once a head says how long its body is, that many bytes pass straight through, whatever they
// contain.
#pragma once
#include "usockets.h"

us_socket_t *on_data(us_socket_t *socket, char *data, int length);

// Gives uWS what was held on connections whose last request has been answered meanwhile.
void feed_waiting();

// The connection whose bytes uWS is parsing, that is, whose route handler is running; null otherwise.
us_socket_t *socket_being_fed();
