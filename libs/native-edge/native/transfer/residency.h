// Detects whether a range of a file is in memory, so that sendfile does not wait for a disk or a network.
//
// sendfile reads missing pages before it returns, and meanwhile blocks the event loop. So each range is checked first, and a
// thread of libuv's pool reads a missing one before it is sent.
#pragma once
#include <stdint.h>
#include <sys/types.h>

enum class Residency { InMemory, Cold };

Residency residency(int file, off_t offset, size_t length);

// Reads the range into memory. Blocks; runs on a thread of the pool.
void warm(int file, off_t offset, size_t length);
