// Decides which bodies are copied from memory, and which are sent by reference to the page cache.
//
// Copying costs time per byte; sendfile costs one more system call and some time per page. The size at which both are equal depends on the
// processor and its memory: 12 to 24 KB on an Intel Xeon of 2025, and some 30 KB on an AMD EPYC (Zen 3). So it is measured at each start, in some
// 20 milliseconds. Only pages of files are sent by reference, since the kernel keeps them unchanged until the client has them. Memory of this
// process, which is reused, is always copied.
#pragma once
#include <stddef.h>

// Size in bytes from which bodies in files are sent by reference, between kLeastByReference and kMostCopied + 1.
extern size_t copy_limit;

constexpr size_t kLeastByReference = 8 * 1024;
// Limit: bytes of a body in memory; larger bodies are never kept there. Equal to SMALL_BYTES of libs/tilesets.
constexpr size_t kMostCopied = 64 * 1024;

// Sets `copy_limit` between `kLeastByReference` and `kMostCopied` + 1 by a measurement with a file of at least some megabytes, whose beginning is
// in the page cache. Blocks for some 20 milliseconds. If the measurement fails, the limit stays.
void measure_copy_limit(const char *file);
