// Which bodies are copied out of memory, and which are sent by reference to the page cache.
//
// Copying costs by the byte, and sendfile costs one more system call and something for each page. Where both are equal depends on the processor
// and its memory: at 12 to 24 KB on an Intel Xeon of 2025, and at some 30 KB on an AMD EPYC (Zen 3). So it is measured at each start, in some 20
// milliseconds. Only pages of files are referred to, which the kernel keeps as they are until the client has them. Memory of this process, which is
// used again, is always copied.
#pragma once
#include <stddef.h>

// Bodies of as many bytes or more are sent by reference, if they are in a file. Between kLeastByReference and kMostCopied.
extern size_t copy_limit;

constexpr size_t kLeastByReference = 8 * 1024;
// Limit: larger bodies are not kept in memory at all. As SMALL_BYTES of libs/tilesets.
constexpr size_t kMostCopied = 64 * 1024;

// Sets `copy_limit`, between `kLeastByReference` and one more than `kMostCopied`, by what is measured with a file of at least some megabytes, whose
// beginning is in the page cache. Blocks for some 20 milliseconds. If nothing can be measured, it stays.
void measure_copy_limit(const char *file);
