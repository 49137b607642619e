#include "hooks.h"

#include <stdint.h>
#include <string.h>

UwsCallbacks uws;

namespace {
// A us_socket_context_t is 18 words long (uWS's own data, longer than this, follow directly).
constexpr int kWords = 20;

template <typename Callback, typename Setter>
bool replace(us_socket_context_t *context, Setter setter, Callback mine, Callback *previous) {
  auto *words = reinterpret_cast<uintptr_t *>(context);
  uintptr_t before[kWords];
  memcpy(before, words, sizeof before);
  setter(0, context, mine);
  int changed = 0;
  for (int i = 0; i < kWords; i++) {
    if (words[i] == before[i]) continue;
    changed++;
    *previous = reinterpret_cast<Callback>(before[i]);
  }
  const bool as_expected = changed == 1 && is_in_binary(reinterpret_cast<void *>(*previous));
  if (as_expected) return true;
  *previous = nullptr;
  memcpy(words, before, sizeof before);
  return false;
}
}  // namespace

void remove_hooks(us_socket_context_t *context) {
  if (uws.open) us.us_socket_context_on_open(0, context, uws.open);
  if (uws.data) us.us_socket_context_on_data(0, context, uws.data);
  if (uws.writable) us.us_socket_context_on_writable(0, context, uws.writable);
  if (uws.close) us.us_socket_context_on_close(0, context, uws.close);
  if (uws.timeout) us.us_socket_context_on_timeout(0, context, uws.timeout);
  uws = UwsCallbacks();
}

std::string set_hooks(us_socket_context_t *context, const UwsCallbacks &hooks) {
  const bool ok = replace(context, us.us_socket_context_on_open, hooks.open, &uws.open) &&
                  replace(context, us.us_socket_context_on_data, hooks.data, &uws.data) &&
                  replace(context, us.us_socket_context_on_writable, hooks.writable, &uws.writable) &&
                  replace(context, us.us_socket_context_on_close, hooks.close, &uws.close) &&
                  replace(context, us.us_socket_context_on_timeout, hooks.timeout, &uws.timeout);
  if (ok) return "";
  remove_hooks(context);
  return "a callback of uSockets is not where it was expected";
}
