// Answers a request for a tile that is not in the response table, from its folder or archive, if the kernel has both path and bytes in memory.
// uWS and JavaScript do not see such requests.
#pragma once
#include "../hot_tiles/tile_response.h"

// True if the request is answered, or will be as soon as the client reads, or its connection has been closed. False if the JavaScript handler
// must answer it. `target` is the path without a query. Only for plain requests on connections without a response in progress.
bool answer_cold(Connection &connection, const RequestHead &request, std::string_view target, std::string_view query, const Credential &credential,
                 const Now &now);
