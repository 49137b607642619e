#include "addon.h"

#include <node_api.h>

#include "arguments.h"
#include "connection.h"
#include "feed.h"
#include "file_transfer.h"
#include "hooks.h"
#include "listener.h"

namespace {
napi_env node_env = nullptr;
napi_ref on_settled = nullptr;

us_socket_t *on_open(us_socket_t *socket, int is_client, char *ip, int ip_length) {
  add_connection(socket);
  return uws.open(socket, is_client, ip, ip_length);
}

us_socket_t *on_close(us_socket_t *socket, int code, void *reason) {
  Connection *connection = find_connection(socket);
  std::unique_ptr<Transfer> transfer = connection ? detach_transfer(*connection) : nullptr;
  forget_connection(socket);
  socket = uws.close(socket, code, reason);
  report_aborted(std::move(transfer));
  return socket;
}

napi_value to_js(const std::string &text) {
  napi_value value;
  napi_create_string_utf8(node_env, text.data(), text.size(), &value);
  return value;
}

napi_value to_js(double number) {
  napi_value value;
  napi_create_double(node_env, number, &value);
  return value;
}

napi_value to_js(bool truth) {
  napi_value value;
  napi_get_boolean(node_env, truth, &value);
  return value;
}

// attach(binaryPath, port, stallSeconds, onSettled(id, outcome, sent)): '' or why not
napi_value attach(napi_env env, napi_callback_info info) {
  const Arguments arguments(env, info);
  if (app.attached) {
    napi_value problem;
    napi_create_string_utf8(env, "this process is attached to a listener already", NAPI_AUTO_LENGTH, &problem);
    return problem;
  }
  node_env = env;
  if (std::string problem = load_usockets(arguments.text(0).c_str()); !problem.empty()) return to_js(problem);
  napi_get_uv_event_loop(env, &app.uv_loop);
  const Listener listener = find_listener(app.uv_loop, static_cast<int>(arguments.integer(1)));
  if (!listener.problem.empty()) return to_js(listener.problem);
  app.context = listener.context;
  app.loop = listener.loop;
  app.stall_ms = static_cast<uint64_t>(arguments.integer(2)) * 1000;
  app.layout.reset(app.loop);
  const std::string problem = set_hooks(app.context, {on_open, on_data, on_writable, on_close, on_timeout});
  if (!problem.empty()) return to_js(problem);
  app.attached = true;
  napi_create_reference(env, arguments[3], 1, &on_settled);
  return to_js(std::string());
}

// detach(): uWS serves alone again. Connections that the addon holds something of are closed.
napi_value detach(napi_env env, napi_callback_info) {
  if (!app.attached) return nullptr;
  for (size_t fd = 0; fd < app.connections.size(); fd++) {
    const Connection *connection = app.connections[fd].get();
    if (connection && (connection->transfer || !connection->held.empty()))
      us.us_socket_close(0, connection->socket, 0, nullptr);
  }
  remove_hooks(app.context);
  app.connections.clear();
  app.attached = false;
  napi_delete_reference(env, on_settled);
  on_settled = nullptr;
  return nullptr;
}

// probe(stage): whether uWS's memory shows what the stage of the probe request must have left there
napi_value probe(napi_env env, napi_callback_info info) {
  static us_socket_t *socket = nullptr;
  const auto stage = static_cast<ProbeStage>(Arguments(env, info).integer(0));
  if (stage == ProbeStage::Untouched) socket = socket_being_fed();
  return to_js(app.attached && socket && app.layout.probe(stage, socket));
}

// mark(): to be called before the length is announced
napi_value mark(napi_env, napi_callback_info) {
  mark_cork();
  return nullptr;
}

// start(file, offset, length): above 0, the id of a pending transfer; 0, sent; -1, not possible; -2 - outcome, failed
napi_value start(napi_env env, napi_callback_info info) {
  const Arguments arguments(env, info);
  const Started started = start_file_transfer(static_cast<int>(arguments.integer(0)), arguments.integer(1),
                                         static_cast<uint64_t>(arguments.integer(2)));
  switch (started.kind) {
    case Started::Pending:
      return to_js(static_cast<double>(started.id));
    case Started::Sent:
      return to_js(0.0);
    case Started::NotPossible:
      return to_js(-1.0);
    default:
      return to_js(-2.0 - static_cast<double>(started.outcome));
  }
}

// A worker thread may end before the process does; libuv wants its handles closed then.
void clean_up(napi_async_cleanup_hook_handle hook, void *) {
  const bool closing = close_before_poll(
      [](uv_handle_t *handle) { napi_remove_async_cleanup_hook(static_cast<napi_async_cleanup_hook_handle>(handle->data)); }, hook);
  if (!closing) napi_remove_async_cleanup_hook(hook);
}
}  // namespace

void tell_javascript(uint32_t id, Outcome outcome, uint64_t sent) {
  napi_handle_scope scope;
  napi_open_handle_scope(node_env, &scope);
  napi_value function, receiver, result;
  if (on_settled && napi_get_reference_value(node_env, on_settled, &function) == napi_ok) {
    napi_get_global(node_env, &receiver);
    napi_value arguments[] = {to_js(static_cast<double>(id)), to_js(static_cast<double>(outcome)), to_js(static_cast<double>(sent))};
    napi_make_callback(node_env, nullptr, receiver, function, 3, arguments, &result);
    // The function catches what it calls. Should it throw all the same, the process must live on: an exception that stays pending
    // would surface in whatever JavaScript runs next.
    bool pending = false;
    napi_value exception;
    if (napi_is_exception_pending(node_env, &pending) == napi_ok && pending)
      napi_get_and_clear_last_exception(node_env, &exception);
  }
  napi_close_handle_scope(node_env, scope);
}

NAPI_MODULE_INIT() {
  const napi_property_descriptor functions[] = {
      {"attach", nullptr, attach, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"detach", nullptr, detach, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"probe", nullptr, probe, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"mark", nullptr, mark, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"start", nullptr, start, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
  };
  napi_define_properties(env, exports, sizeof functions / sizeof *functions, functions);
  add_hot_table(env, exports);
  add_cached_file(env, exports);
  napi_add_async_cleanup_hook(env, clean_up, nullptr, nullptr);
  return exports;
}
