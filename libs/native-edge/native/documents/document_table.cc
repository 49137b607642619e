#include "document_table.h"

DocumentTable document_table;

namespace {
size_t bytes_of(const TileParts &answer) { return answer.head.size() + answer.body.size() + answer.range.length; }
}  // namespace

const Document *DocumentTable::find(std::string_view request) const {
  const auto found = by_request_.find(request);
  return found == by_request_.end() ? nullptr : found->second;
}

void DocumentTable::put(Document document, const TileParts &answer) {
  const bool has_room = !answer.is_file() || (answer.range.file && files_ < kMostFiles);
  if (document.request.empty() || bytes_of(answer) > most_bytes_ || (!answers_.count(answer.head) && !has_room)) return;
  document.answer = share(answer);
  const auto found = by_request_.find(document.request);
  if (found != by_request_.end()) {
    // The token has changed since. The key is a view into the text of the request, which must therefore stay.
    document.request.swap(found->second->request);
    std::swap(*found->second, document);
    release(document.answer.parts());
  } else {
    documents_.push_back(std::make_unique<Document>(std::move(document)));
    by_request_.emplace(documents_.back()->request, documents_.back().get());
  }
  while (documents_.size() > most_ || bytes_ > most_bytes_) drop_oldest();
}

TilePointer DocumentTable::share(const TileParts &answer) {
  auto found = answers_.find(answer.head);
  if (found == answers_.end()) {
    TilePointer kept(new TileResponse(answer));
    bytes_ += bytes_of(answer);
    files_ += answer.is_file();
    const std::string_view key = kept->head;
    found = answers_.emplace(key, Shared{std::move(kept)}).first;
  }
  found->second.uses++;
  return found->second.answer;
}

void DocumentTable::release(const TileParts &answer) {
  const auto found = answers_.find(answer.head);
  if (--found->second.uses) return;
  bytes_ -= bytes_of(answer);
  files_ -= answer.is_file();
  answers_.erase(found);
}

void DocumentTable::drop_oldest() {
  const std::unique_ptr<Document> oldest = std::move(documents_.front());
  documents_.pop_front();
  by_request_.erase(oldest->request);
  release(oldest->answer.parts());
}

void DocumentTable::clear() {
  while (!documents_.empty()) drop_oldest();
}
