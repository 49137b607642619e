#include "document_response.h"

#include "document_table.h"

bool answer_document(Connection &connection, const RequestHead &request, const Credential &credential, const Now &now) {
  if (document_table.empty()) return false;
  const Document *document = document_table.find(request.whole);
  if (!document) return false;
  TokenEntry *token = response_table.holder_of(credential, document->token_serial, now);
  if (!token) return false;
  const Parties parties(token->usage, document->usage, token->pairs);
  // The earlier response to the same request was the document, not a 304, so the request names no current copy.
  if (!send_tile(connection, document->answer, wanted_of(request), now, parties)) return false;
  parties.add({1, 0, 0, 0});
  (document->is_of_catalog ? hot_counts.catalog_documents : hot_counts.tile_documents)++;
  return true;
}
