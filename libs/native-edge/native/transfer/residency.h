// Whether a part of a file is in memory, so that sendfile will not wait for a disk or a network.
//
// sendfile reads what is missing before it returns, and for that long the event loop serves nobody. So each stretch is asked
// about first, and one that is not there is read by a thread of libuv's pool before it is sent.
#pragma once
#include <stdint.h>
#include <sys/types.h>

enum class Residency { InMemory, Cold };

Residency residency(int file, off_t offset, size_t length);

// Reads the stretch, so that it is in memory. Blocks; runs on a thread of the pool.
void warm(int file, off_t offset, size_t length);
