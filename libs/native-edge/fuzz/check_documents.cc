#include <algorithm>
#include <list>
#include <set>
#include <string>

#include "../native/documents/document_table.h"
#include "check.h"

namespace {
struct Put {
  std::string request, head, body;
  uint64_t serial;
};

size_t bytes_of(const std::list<Put> &all) {
  std::set<std::string> heads;
  size_t bytes = 0;
  for (const Put &put : all) bytes += heads.insert(put.head).second ? put.head.size() + put.body.size() : 0;
  return bytes;
}
}  // namespace

void check_documents(Choices &choices) {
  const size_t most = 1 + choices.below(20), most_bytes = 100 + choices.below(3'000);
  DocumentTable table(most, most_bytes);
  std::list<Put> model;  // oldest first
  TilePointer sending;   // outlives its entry in the table
  std::string sent;
  for (size_t steps = choices.below(300); steps > 0 && !choices.exhausted(); steps--) {
    const std::string request = "GET /document/" + std::to_string(choices.below(30)) + " HTTP/1.1";
    if (choices.once_in(40)) {
      table.clear();
      model.clear();
    } else if (choices.once_in(2)) {
      const size_t number = choices.below(12);
      const std::string head = "head " + std::to_string(number), body(number * 50, static_cast<char>('a' + number));
      TileParts answer;
      answer.head = head;
      answer.body = body;
      const uint64_t serial = 1 + choices.below(3);
      table.put({request, serial}, answer);
      if (head.size() + body.size() <= most_bytes) {
        const auto known = std::find_if(model.begin(), model.end(), [&](const Put &put) { return put.request == request; });
        if (known == model.end()) model.push_back({request, head, body, serial});
        else *known = {request, head, body, serial};
      }
      while (model.size() > most || bytes_of(model) > most_bytes) model.pop_front();
    }
    const Document *found = table.find(request);
    const auto known = std::find_if(model.begin(), model.end(), [&](const Put &put) { return put.request == request; });
    REQUIRE((found != nullptr) == (known != model.end()), request);
    if (found) REQUIRE(found->token_serial == known->serial && found->answer->body == known->body && found->request == request, request);
    if (found && choices.once_in(5)) {
      sending = TilePointer(found->answer);
      sent = known->body;
    }
    if (sending) REQUIRE(sending->body == sent, "a document changed while it was sent");
    REQUIRE(table.count() == model.size() && table.bytes() == bytes_of(model), std::to_string(table.bytes()));
  }
}
