// Answering a request from the table of documents. uWS and JavaScript do not see such a request.
#pragma once
#include "../hot_tiles/tile_response.h"

// As answer_hot.
bool answer_document(Connection &connection, const RequestHead &request, const Credential &credential, const Now &now);
