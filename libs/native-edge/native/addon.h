// What the parts of the addon share of its face to JavaScript.
#pragma once
#include <node_api.h>
#include <stdint.h>

#include "transfer/transfer.h"

// Calls the function that JavaScript gave to attach: a pending transfer has ended. JavaScript runs inside this call: afterwards any
// connection may be closed.
void tell_javascript(uint32_t id, Outcome outcome, uint64_t sent);

// Add the functions of the response table, those that open and read files from the kernel's caches, and those of the sets of
// cold tiles and of documents, to what the addon exports.
void add_response_table(napi_env env, napi_value exports);
void add_cached_file(napi_env env, napi_value exports);
void add_cold_sets(napi_env env, napi_value exports);
void add_documents(napi_env env, napi_value exports);
