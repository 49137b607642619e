// Answering a request for a tile that is not in the response table, out of its folder or archive, as far as the kernel has both path and bytes
// in memory. uWS and JavaScript do not see such a request.
#pragma once
#include "../hot_tiles/tile_response.h"

// True: the request is answered, or will be as soon as the client reads, or its connection has been closed. False: it is for the
// JavaScript handler. `target`: the path without a query. For plain requests on connections on which nothing else is under way.
bool answer_cold(Connection &connection, const RequestHead &request, std::string_view target, std::string_view query, const Credential &credential,
                 const Now &now);
