// The parts of the JavaScript interface that the files of the addon share.
#pragma once
#include <node_api.h>
#include <stdint.h>

#include "transfer/transfer.h"

// Calls the function that JavaScript passed to attach: a pending transfer has ended. JavaScript runs inside this call, and may
// close any connection.
void tell_javascript(uint32_t id, Outcome outcome, uint64_t sent);

// These add functions to the addon's exports: those of the response table, of reading files from the kernel's caches, of the sets
// of cold tiles, and of documents.
void add_response_table(napi_env env, napi_value exports);
void add_cached_file(napi_env env, napi_value exports);
void add_cold_sets(napi_env env, napi_value exports);
void add_documents(napi_env env, napi_value exports);
