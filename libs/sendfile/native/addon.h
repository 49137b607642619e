// The face towards JavaScript (src/native.ts is its only caller).
#pragma once
#include <node_api.h>
#include <stdint.h>

#include "transfer.h"

// Calls the function that JavaScript gave to attach: a pending transfer has ended. JavaScript runs inside this call: afterwards any
// connection may be closed.
void tell_javascript(uint32_t id, Outcome outcome, uint64_t sent);

// Adds the functions of the hot table to what the addon exports.
void add_hot_table(napi_env env, napi_value exports);

// Adds the functions that open and read files from the kernel's caches.
void add_cached_file(napi_env env, napi_value exports);
