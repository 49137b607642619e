// Putting the addon's callbacks before those of uWS.
//
// uSockets keeps one function pointer for each event in the context that all connections of the App share. Its setters overwrite
// the pointer; there is no getter. So a setter is called, and the word of the context that changed was the pointer: exactly one
// must have changed, and what it held must be a function of the uWebSockets.js binary. The hook calls that
// function for everything that the addon does not handle.
//
// The words that are watched are the first 40, and end with the memory that malloc gave for the context. Assumed is that uSockets allocates by malloc and
// that its pointers are among these words: if one is not, nothing is seen to change, and the native tier is refused. Only a word that has changed is
// ever written back. Over TLS the setters keep a second set of callbacks, which see what is decrypted: those are replaced.
#pragma once
#include "usockets.h"

struct UwsCallbacks {
  OnOpen open = nullptr;
  OnData data = nullptr;
  OnEvent writable = nullptr;
  OnClose close = nullptr;
  OnEvent timeout = nullptr;
};

// What uWS had set before the hooks.
extern UwsCallbacks uws;

// Returns an empty string, or what did not match; then nothing is left changed. For each further context of the same App's kind, too: it must have the
// same callbacks.
std::string set_hooks(us_socket_context_t *context, const UwsCallbacks &hooks);
void remove_hooks(us_socket_context_t *context);
bool has_hooks(const us_socket_context_t *context);
