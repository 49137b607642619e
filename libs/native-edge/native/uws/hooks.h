// Installs the addon's callbacks in front of those of uWS.
//
// uSockets keeps one function pointer for each event in the context that all connections of the App share. Its setters overwrite the pointer; there
// is no getter. So a setter is called, and the word of the context that changed is the pointer: exactly one must have changed, and its old value must
// be a function of the uWebSockets.js binary. The hook calls that function for every event that the addon does not handle.
//
// The first 40 words are compared, or fewer if the memory that malloc gave for the context ends before. This assumes that uSockets allocates by
// malloc and that its pointers are among these words: if a pointer is not, no word changes, and the native tier is refused. Only a word that has
// changed is ever written back. Over TLS the setters keep a second set of callbacks, which see the decrypted bytes; those are replaced.
#pragma once
#include "usockets.h"

struct UwsCallbacks {
  OnOpen open = nullptr;
  OnData data = nullptr;
  OnEvent writable = nullptr;
  OnClose close = nullptr;
  OnEvent timeout = nullptr;
};

// The callbacks that uWS had set before the hooks.
extern UwsCallbacks uws;

// Returns an empty string, or the mismatch, in which case no callback stays changed. Also called for each further context of the same App's kind,
// which must have the same callbacks.
std::string set_hooks(us_socket_context_t *context, const UwsCallbacks &hooks);
void remove_hooks(us_socket_context_t *context);
bool has_hooks(const us_socket_context_t *context);
