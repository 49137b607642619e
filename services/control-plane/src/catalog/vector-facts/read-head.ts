import { closeSync, readSync } from 'node:fs'
import { openBelowSync } from '@gateway/core/files/open-below.js'

/** At most the first `length` bytes of a file; null where it is not there, leads out of `root` or may not be read. Throws what the disk says. */
export function readHead(root: string, path: string, length: number): Buffer | null {
  const opened = openBelowSync(root, path)
  if (!opened.ok) return null
  try {
    const buffer = Buffer.alloc(Math.min(length, opened.size))
    return buffer.subarray(0, readSync(opened.fd, buffer, 0, buffer.length, 0))
  } finally {
    closeSync(opened.fd)
  }
}
