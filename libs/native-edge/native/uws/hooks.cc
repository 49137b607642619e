#include "hooks.h"

#include <malloc.h>
#include <stdint.h>

#include <algorithm>
#include <vector>

UwsCallbacks uws;

namespace {
// Number of words at the beginning of the structure that are compared; uWS's own data follow it.
constexpr size_t kMostWords = 40;
std::vector<const us_socket_context_t *> hooked;

template <typename Callback, typename Setter>
bool replace(us_socket_context_t *context, Setter setter, Callback mine, Callback *previous) {
  auto *words = reinterpret_cast<uintptr_t *>(context);
  const std::vector<uintptr_t> before(words, words + std::min(malloc_usable_size(context) / sizeof *words, kMostWords));
  setter(us.tls, context, mine);
  size_t changed = 0, place = 0;
  for (size_t i = 0; i < before.size(); i++) {
    if (words[i] == before[i]) continue;
    changed++;
    place = i;
  }
  const auto found = changed ? reinterpret_cast<Callback>(before[place]) : nullptr;
  const bool is_known = !*previous || *previous == found;
  if (changed == 1 && is_known && is_in_binary(reinterpret_cast<void *>(found))) {
    *previous = found;
    return true;
  }
  for (size_t i = 0; i < before.size(); i++)
    if (words[i] != before[i]) words[i] = before[i];
  return false;
}

void give_back(us_socket_context_t *context, const UwsCallbacks &callbacks) {
  if (callbacks.open) us.us_socket_context_on_open(us.tls, context, callbacks.open);
  if (callbacks.data) us.us_socket_context_on_data(us.tls, context, callbacks.data);
  if (callbacks.writable) us.us_socket_context_on_writable(us.tls, context, callbacks.writable);
  if (callbacks.close) us.us_socket_context_on_close(us.tls, context, callbacks.close);
  if (callbacks.timeout) us.us_socket_context_on_timeout(us.tls, context, callbacks.timeout);
}
}  // namespace

bool has_hooks(const us_socket_context_t *context) { return std::find(hooked.begin(), hooked.end(), context) != hooked.end(); }

void remove_hooks(us_socket_context_t *context) {
  give_back(context, uws);
  hooked.erase(std::remove(hooked.begin(), hooked.end(), context), hooked.end());
  if (hooked.empty()) uws = UwsCallbacks();
}

std::string set_hooks(us_socket_context_t *context, const UwsCallbacks &hooks) {
  UwsCallbacks found = uws;
  // Callbacks that were replaced so far, to be restored after a failure.
  UwsCallbacks replaced;
  const auto swap = [context](auto setter, auto mine, auto &known, auto &done) {
    if (!replace(context, setter, mine, &known)) return false;
    done = known;
    return true;
  };
  const bool ok = swap(us.us_socket_context_on_open, hooks.open, found.open, replaced.open) &&
                  swap(us.us_socket_context_on_data, hooks.data, found.data, replaced.data) &&
                  swap(us.us_socket_context_on_writable, hooks.writable, found.writable, replaced.writable) &&
                  swap(us.us_socket_context_on_close, hooks.close, found.close, replaced.close) &&
                  swap(us.us_socket_context_on_timeout, hooks.timeout, found.timeout, replaced.timeout);
  if (!ok) {
    give_back(context, replaced);
    return "a callback of uSockets is not where it was expected";
  }
  uws = found;
  hooked.push_back(context);
  return "";
}
