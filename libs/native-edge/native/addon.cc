#include "addon.h"

#include "call.h"
#include "hot_tiles/response_table.h"
#include "transfer/copy_limit.h"
#include "uws/connection.h"
#include "uws/request_pipeline.h"
#include "transfer/uws_response.h"
#include "uws/hooks.h"
#include "uws/listener.h"
#include "uws/loop_fairness.h"

namespace {
napi_env node_env = nullptr;
napi_ref on_settled = nullptr;

us_socket_t *on_open(us_socket_t *socket, int is_client, char *ip, int ip_length) {
  if (Descriptor::leaves_few(us.us_poll_fd(socket))) response_table.release_files();
  add_connection(socket);
  return uws.open(socket, is_client, ip, ip_length);
}

us_socket_t *on_counted_data(us_socket_t *socket, char *data, int length) {
  loop_fairness.count_event();
  return on_data(socket, data, length);
}

us_socket_t *on_close(us_socket_t *socket, int code, void *reason) {
  Connection *connection = find_connection(socket);
  std::unique_ptr<Transfer> transfer = connection ? detach_transfer(*connection) : nullptr;
  forget_connection(socket);
  socket = uws.close(socket, code, reason);
  report_aborted(std::move(transfer));
  return socket;
}

// Sets the hooks on the port's listener that has none yet.
std::string hook(int port) {
  const Listener listener = find_listener(app.uv_loop, port);
  if (!listener.problem.empty()) return listener.problem;
  if (app.loop && app.loop != listener.loop) return "the listener is of another event loop";
  if (std::string problem = set_hooks(listener.context, {on_open, on_counted_data, on_writable, on_close, on_timeout}); !problem.empty()) return problem;
  app.contexts.push_back(listener.context);
  app.loop = listener.loop;
  return "";
}

// attach(binaryPath, port, stallSeconds, onSettled(id, outcome, sent), idleSeconds, isEncrypted): '' or the reason of the failure
std::string attach(const Call &call) {
  if (app.attached) return "this process is attached to a listener already";
  if (std::string problem = load_usockets(call.text(0).c_str()); !problem.empty()) return problem;
  napi_get_uv_event_loop(call.env, &app.uv_loop);
  us.tls = call.truth(5);
  app.stall_ms = static_cast<uint64_t>(call.integer(2)) * 1000;
  app.idle_seconds = static_cast<unsigned>(call.integer(4));
  if (std::string problem = hook(static_cast<int>(call.integer(1))); !problem.empty()) return problem;
  app.layout.reset(app.loop);
  loop_fairness.open(app.uv_loop);
  app.attached = true;
  node_env = call.env;
  napi_create_reference(call.env, call[3], 1, &on_settled);
  return "";
}

// detach(): removes the hooks. Closes the connections for which the addon holds data.
napi_value detach(const Call &call) {
  if (!app.attached) return nullptr;
  for (size_t fd = 0; fd < app.connections.size(); fd++) {
    const Connection *connection = app.connections[fd].get();
    if (connection && (connection->transfer || !connection->held.empty()))
      us.us_socket_close(0, connection->socket, 0, nullptr);
  }
  for (us_socket_context_t *context : app.contexts) remove_hooks(context);
  app.contexts.clear();
  app.loop = nullptr;
  app.connections.clear();
  app.attached = false;
  napi_delete_reference(call.env, on_settled);
  on_settled = nullptr;
  return nullptr;
}

// probe(stage): true if the memory of uWS contains what this stage of the probe request must have left there
bool probe(const Call &call) {
  static us_socket_t *socket = nullptr;
  const auto stage = static_cast<ProbeStage>(call.integer(0));
  if (stage == ProbeStage::Untouched) socket = socket_being_fed();
  return app.attached && socket && app.layout.probe(stage, socket);
}

// start(file, offset, length): above 0, the id of a pending transfer; 0, sent; -1 - outcome, failed
double start(const Call &call) {
  const Started started = start_file_transfer(static_cast<int>(call.integer(0)), call.integer(1), static_cast<uint64_t>(call.integer(2)));
  if (started.kind == Started::Pending) return static_cast<double>(started.id);
  return started.kind == Started::Sent ? 0.0 : -1.0 - static_cast<double>(started.outcome);
}

// A worker thread may end before the process does; libuv then requires its handles to be closed.
void clean_up(napi_async_cleanup_hook_handle hook, void *) {
  close_before_poll();
  const bool closing = loop_fairness.close(
      [](uv_handle_t *handle) { napi_remove_async_cleanup_hook(static_cast<napi_async_cleanup_hook_handle>(handle->data)); }, hook);
  if (!closing) napi_remove_async_cleanup_hook(hook);
}
}  // namespace

void tell_javascript(uint32_t id, Outcome outcome, uint64_t sent) {
  napi_handle_scope scope;
  napi_open_handle_scope(node_env, &scope);
  napi_value function, receiver, result, arguments[3];
  if (on_settled && napi_get_reference_value(node_env, on_settled, &function) == napi_ok) {
    napi_get_global(node_env, &receiver);
    const double values[] = {static_cast<double>(id), static_cast<double>(outcome), static_cast<double>(sent)};
    for (int i = 0; i < 3; i++) napi_create_double(node_env, values[i], &arguments[i]);
    napi_make_callback(node_env, nullptr, receiver, function, 3, arguments, &result);
    // The function catches the errors of its callees. If it throws nevertheless, the process must survive: a pending exception
    // would surface in the next JavaScript that runs.
    bool pending = false;
    napi_value exception;
    if (napi_is_exception_pending(node_env, &pending) == napi_ok && pending)
      napi_get_and_clear_last_exception(node_env, &exception);
  }
  napi_close_handle_scope(node_env, scope);
}

NAPI_MODULE_INIT() {
  export_functions(env, exports, {
    {"attach", [](const Call &call) { return call.value(attach(call)); }},
    {"detach", detach},
    // attachAlso(port): hooks a further listener on the port; '' or the reason of the failure
    {"attachAlso", [](const Call &call) {
       return call.value(app.attached ? hook(static_cast<int>(call.integer(0))) : std::string("nothing is attached"));
     }},
    // measureCopyLimit(file): size in bytes from which bodies are sent by reference
    {"measureCopyLimit", [](const Call &call) {
       measure_copy_limit(call.text(0).c_str());
       return call.value(static_cast<double>(copy_limit));
     }},
    // setCopyLimit(bytes): sets the limit without a measurement
    {"setCopyLimit", [](const Call &call) -> napi_value { return copy_limit = static_cast<size_t>(call.integer(0)), nullptr; }},
    // connectionsWait(port): true if a listener on the port has connections that were not accepted yet
    {"connectionsWait", [](const Call &call) {
       return call.value(app.attached && has_waiting_connections(app.uv_loop, static_cast<int>(call.integer(0))));
     }},
    // hasUnsent(): true if a client has not read all bytes sent by this process
    {"hasUnsent", [](const Call &call) { return call.value(app.attached && has_unsent()); }},
    {"probe", [](const Call &call) { return call.value(probe(call)); }},
    // mark(): must be called before the marker is written
    {"mark", [](const Call &) -> napi_value { return mark_cork(), nullptr; }},
    // unmark(): removes the marker; false: a transfer is not possible
    {"unmark", [](const Call &call) { return call.value(take_back_mark()); }},
    // untilClose(): removes the Content-Length written since `mark`; false: it was sent already
    {"untilClose", [](const Call &call) { return call.value(take_back_length()); }},
    {"start", [](const Call &call) { return call.value(start(call)); }},
  });
  add_response_table(env, exports);
  add_documents(env, exports);
  add_cached_file(env, exports);
  add_cold_sets(env, exports);
  napi_add_async_cleanup_hook(env, clean_up, nullptr, nullptr);
  return exports;
}
