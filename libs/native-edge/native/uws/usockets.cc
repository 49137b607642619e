#include "usockets.h"

#include <dlfcn.h>

USockets us;

namespace {
void *binary_base = nullptr;  // base address at which the dynamic linker mapped the binary

void *base_of(const void *address) {
  Dl_info info;
  return dladdr(address, &info) ? info.dli_fbase : nullptr;
}
}  // namespace

bool is_in_binary(const void *function) { return function && binary_base && base_of(function) == binary_base; }

std::string load_usockets(const char *path) {
  // RTLD_NOLOAD: returns only a handle to the binary that the process has loaded already. A second copy would have its
  // own state.
  void *binary = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (!binary) return "the uWebSockets.js binary is not loaded";

  std::string missing;
  auto look_up = [&](auto &function, const char *name) {
    void *symbol = dlsym(binary, name);
    if (!symbol) {
      missing = name;
      return;
    }
    // dlsym also finds a function of that name in a library that the binary depends on; only the binary's own function
    // is accepted.
    if (!binary_base) binary_base = base_of(symbol);
    if (base_of(symbol) != binary_base) missing = name;
    function = reinterpret_cast<std::decay_t<decltype(function)>>(symbol);
  };
#define LOOK_UP(name) look_up(us.name, #name)
  LOOK_UP(us_poll_fd);
  LOOK_UP(us_poll_events);
  LOOK_UP(us_poll_change);
  LOOK_UP(us_socket_context);
  LOOK_UP(us_socket_context_loop);
  LOOK_UP(us_loop_ext);
  LOOK_UP(us_socket_ext);
  LOOK_UP(us_socket_is_closed);
  LOOK_UP(us_socket_is_shut_down);
  LOOK_UP(us_socket_write);
  LOOK_UP(us_socket_shutdown);
  LOOK_UP(us_socket_close);
  LOOK_UP(us_socket_timeout);
  LOOK_UP(us_socket_context_on_open);
  LOOK_UP(us_socket_context_on_data);
  LOOK_UP(us_socket_context_on_writable);
  LOOK_UP(us_socket_context_on_close);
  LOOK_UP(us_socket_context_on_timeout);
#undef LOOK_UP
  return missing.empty() ? "" : "the uWebSockets.js binary does not export " + missing;
}
