// The JavaScript interface of the table of documents, called only by src/hot-tiles/response-table.ts.
#include "../addon.h"
#include "../call.h"
#include "document_table.h"

namespace {
// Arguments: head of the request, token, whether it counts for the catalog, name of the usage of what it describes, head of the response, body, then
// instead of the body: descriptor, offset and length.
napi_value put_document(const Call &call) {
  Document document{call.text(0), response_table.serial_of(call.text(1)), call.truth(2), usage_of(call.text(3))};
  if (!document.token_serial) return nullptr;
  const std::string head = call.text(4);
  TileParts answer;
  answer.head = head;
  answer.body = call.bytes(5);
  answer.range.offset = call.integer(7);
  answer.range.length = static_cast<uint64_t>(call.integer(8));
  if (answer.is_file()) answer.range.hold(Descriptor::copy_of(static_cast<int>(call.integer(6))));
  document_table.put(std::move(document), answer);
  return nullptr;
}
// Returns the raw head of the newest request that went to JavaScript; empty if it was too long. It is Latin-1, so that a head with bytes beyond
// ASCII, which `putDocument` gets as UTF-8, equals no request.
napi_value request_head(const Call &call) {
  const std::string &head = document_table.noted_request();
  napi_value result;
  napi_create_string_latin1(call.env, head.data(), head.size(), &result);
  return result;
}
}  // namespace

void add_documents(napi_env env, napi_value exports) {
  export_functions(env, exports, {
    {"putDocument", put_document},
    // Returns the raw head of the newest request that went to JavaScript; empty if it was too long.
    {"requestHead", request_head},
    {"clearDocuments", [](const Call &) -> napi_value { return document_table.clear(), nullptr; }},
  });
}
