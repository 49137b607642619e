// Documents (capabilities, TileJSON, lists of the catalog) that JavaScript has returned for a request, to be returned for the same request again.
//
// The key is the whole head of the request, byte for byte. Every field that the document depends on is the same, so nothing in the head needs to be
// judged here. The token must still be good, and be the same entry of the response table as when the document was put. JavaScript clears the
// documents before any client can see another state of the catalog.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "../hot_tiles/response_table.h"

struct Document {
  std::string request;        // the whole head
  uint64_t token_serial = 0;  // TokenEntry::serial
  bool is_of_catalog = false;  // counted among the responses of the catalog, not of tiles
  UsagePointer usage;         // of the version or basemap that it describes; may be empty
  TilePointer answer;
};

class DocumentTable {
 public:
  explicit DocumentTable(size_t most = kMost, size_t most_bytes = kMostBytes) : most_(most), most_bytes_(most_bytes) {}

  // Limits: documents (one for each request head), bytes of a head, bytes of all different bodies, and open files among them. A new document evicts
  // the oldest.
  static constexpr size_t kMost = 4'096, kMostHead = 2'048, kMostBytes = 64 * 1024 * 1024, kMostFiles = 64;

  // Must be called before uWS, which changes the bytes, sees the request.
  void note_request(std::string_view head) { noted_ = head.size() <= kMostHead ? head : std::string_view(); }
  const std::string &noted_request() const { return noted_; }

  // Stores equal responses once: the entity tag in the head of a response stands for its body. Replaces the previous document of the same request.
  void put(Document document, const TileParts &answer);
  const Document *find(std::string_view request) const;
  bool empty() const { return documents_.empty(); }
  size_t count() const { return documents_.size(); }
  size_t bytes() const { return bytes_; }
  void clear();

 private:
  // Return or release the single response with this head, and count its uses.
  TilePointer share(const TileParts &answer);
  void release(const TileParts &answer);
  void drop_oldest();

  const size_t most_, most_bytes_;
  std::string noted_;
  std::deque<std::unique_ptr<Document>> documents_;  // oldest first
  std::unordered_map<std::string_view, Document *> by_request_;
  struct Shared {
    TilePointer answer;
    size_t uses = 0;
  };
  std::unordered_map<std::string_view, Shared> answers_;  // by their heads
  size_t bytes_ = 0, files_ = 0;                          // of `answers_`
};

extern DocumentTable document_table;
