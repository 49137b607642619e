// Answers requests from the table of documents. uWS and JavaScript do not see such requests.
#pragma once
#include "../hot_tiles/tile_response.h"

// Returns true under the same conditions as answer_hot.
bool answer_document(Connection &connection, const RequestHead &request, const Credential &credential, const Now &now);
