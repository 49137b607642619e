#include "cold_response.h"

#include <errno.h>

#include <algorithm>

#include "../hot_tiles/sampled_tiles.h"
#include "../uws/wire.h"
#include "cold_sets.h"
#include "cold_tile.h"

namespace {
// Time in ms for which a tile that was read here is sent without checking its file again: RECHECK_MS of services/edge/src/tiles/tile-cache.ts, less
// a tick of the kernel's timer, by which the clock may be late.
constexpr int64_t kGoodMs = 10'000 - 10;

int64_t good_until(const ColdSet &set, const Now &now) { return set.is_archive() ? 0 : now.monotonic + kGoodMs; }

// Refuses in the form that the client expects: `missingTileForm` of services/edge/src/http/refusals.ts. Only JavaScript reads a form given in the
// query.
bool refuse_absent(Connection &connection, const RequestHead &request, std::string_view target, std::string_view query, const Credential &credential,
                   const ColdSet &set, const TilePlace &place, const Now &now, const Parties &parties) {
  if (query.find("missing=") != query.npos) return false;
  const bool is_image = request.sec_fetch_dest == "image" && request.sec_fetch_mode == "no-cors";
  ResponseTable::Found refusal = response_table.refuse(is_image ? Refused::NoTileImage : Refused::NoTile, credential);
  if (!refusal.answer) return false;
  if (!is_image && set.is_beyond(place)) refusal.answer = TilePointer(set.beyond);
  parties.add({1, 0, 1, 0});
  sampled_tiles.note(parties.version, target, true);
  return send_tile(connection, std::move(refusal.answer), wanted_of(request), now, parties);
}

// Refuses a token that is good, but not granted this basemap, even if the tile does not exist. A signature for another basemap is not valid here at
// all.
bool refuse_ungranted(Connection &connection, const RequestHead &request, std::string_view target, const Credential &credential, const ColdSet &set,
                      const Now &now) {
  if (credential.is_signed) return false;
  const TokenEntry *token = response_table.ungranted(credential, target, set.code, now);
  ResponseTable::Found refusal = token ? response_table.refuse(Refused::NotGranted, credential) : ResponseTable::Found();
  if (!refusal.answer) return false;
  const Parties parties(token->usage, set.usage, token->pairs);
  parties.add({1, 0, 0, 0, 1});
  return send_tile(connection, std::move(refusal.answer), wanted_of(request), now, parties);
}

TileParts parts_of(const ColdTile &tile, const ColdSet &set, std::string_view target) {
  TileParts parts;
  parts.target = target;
  parts.head = tile.head();
  parts.not_modified = tile.not_modified();
  parts.etag = tile.etag();
  parts.modified = tile.modified();
  parts.code = set.code;
  parts.needs_gzip = tile.is_packed();
  parts.usage = set.usage;
  parts.grid = set.grid();
  if (tile.is_from_file()) parts.range = {nullptr, tile.offset(), tile.size(), tile.is_file_shared()};
  else parts.body = tile.body();
  return parts;
}

// Sends `whole` in one piece, which costs less than a vector, and then the part that is sent from the file. Returns how much of both the kernel
// accepted, or -1 if the client has disconnected.
ssize_t send_whole(Connection &connection, const ColdTile &tile, std::string_view whole) {
  us.us_socket_timeout(0, connection.socket, kUwsIdleSeconds);
  const ssize_t sent = send_bytes(connection.socket, whole, tile.is_from_file());
  if (sent < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
  if (!tile.is_from_file() || static_cast<size_t>(sent) < whole.size()) return sent;
  off_t offset = tile.offset();
  // An error here recurs when the rest is sent, and is reported there.
  return sent + std::max<ssize_t>(send_file(connection.socket, tile.file(), &offset, static_cast<size_t>(tile.size())), 0);
}

// Keeps the file open beyond the request. False if no descriptors are left.
bool hold_file(ColdTile &tile, TileParts &parts) {
  if (parts.is_file() && !parts.range.file) parts.range.hold(tile.share_file());
  return !parts.is_file() || parts.range.file;
}

TilePointer lasting(ColdTile &tile, TileParts &parts) { return TilePointer(hold_file(tile, parts) ? new TileResponse(parts) : nullptr); }

// Sends the rest that the kernel did not accept at once. False if nothing has been sent, and nothing can be.
bool send_rest(Connection &connection, ColdTile &tile, TileParts &parts, const Wanted &wanted, const Now &now, const Parties &parties, size_t sent) {
  TilePointer answer = lasting(tile, parts);
  if (answer) return send_tile(connection, std::move(answer), wanted, now, parties, sent);
  if (sent) us.us_socket_close(0, connection.socket, 0, nullptr);
  return sent != 0;
}

bool send_cold(Connection &connection, TileParts &parts, ColdTile &tile, const Wanted &wanted, const Now &now, const Parties &parties) {
  const bool is_simple = !wanted.head_only && !wanted.not_modified && !wanted.is_last && !tile.is_large();
  if (!is_simple) {
    TilePointer answer = lasting(tile, parts);
    return answer && send_tile(connection, std::move(answer), wanted, now, parties);
  }
  const std::string_view whole = tile.whole(date_line(now.seconds));
  const ssize_t sent = send_whole(connection, tile, whole);
  if (sent < 0) us.us_socket_close(0, connection.socket, 0, nullptr);
  else if (static_cast<size_t>(sent) < whole.size() + parts.range.length) return send_rest(connection, tile, parts, wanted, now, parties, static_cast<size_t>(sent));
  hot_counts.body_bytes += tile.size();
  parties.add({0, 0, 0, tile.size()});
  return true;
}
}  // namespace

bool answer_cold(Connection &connection, const RequestHead &request, std::string_view target, std::string_view query, const Credential &credential,
                 const Now &now) {
  std::string_view rest;
  const ColdSet *set = cold_sets.find(target, now.monotonic, &rest);
  const TokenEntry *token = set ? response_table.admitted(credential, target, set->code, set->grid(), now) : nullptr;
  if (!token) return set && refuse_ungranted(connection, request, target, credential, *set, now);
  const Parties parties(token->usage, set->usage, token->pairs);
  TilePlace place;
  const Address address = read_tile_address(rest, &place);
  // JavaScript reports columns and rows out of range, and that a set has no tiles of double resolution.
  if (address != Address::Tile || !is_in_pyramid(place, set->geographic) || (place.retina && !set->may_have_retina())) return false;
  if (!set->has_extension(place.extension)) return false;
  ColdTile tile(*set);
  const ColdTile::Opened opened = tile.open(place, now.monotonic);
  if (opened == ColdTile::Opened::Absent) {
    response_table.drop_tile(target);
    // An empty tile of a vector is not an error: JavaScript sends 204.
    return !set->is_of_vector() && refuse_absent(connection, request, target, query, credential, *set, place, now, parties);
  }
  if (opened != ColdTile::Opened::Tile) return false;
  if (response_table.renew(target, tile.etag(), good_until(*set, now))) return answer_hot(connection, request);
  const bool may_keep = !tile.is_large() || tile.may_be_referred_to();
  const bool is_kept = may_keep && response_table.is_wanted(target, tile.may_be_referred_to() ? 0 : static_cast<size_t>(tile.size()), true);
  if (!tile.read(is_kept)) return false;
  TileParts parts = parts_of(tile, *set, target);
  Wanted wanted;
  if (!choose(request, parts, &wanted)) return false;
  if (!send_cold(connection, parts, tile, wanted, now, parties)) return false;
  parties.add({1, 1, 0, 0});
  sampled_tiles.note(parties.version, target, false);
  hot_counts.answers++;
  hot_counts.cold++;
  if (wanted.not_modified) hot_counts.not_modified++;
  if (is_kept && hold_file(tile, parts)) response_table.put_tile(parts, good_until(*set, now));
  return true;
}
