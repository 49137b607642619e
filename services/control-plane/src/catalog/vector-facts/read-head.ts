import { closeSync, readSync } from 'node:fs'
import { openBelowSync } from '@gateway/core/files/open-below.js'

/** Returns at most the first `length` bytes of a file; null if it does not exist, leads out of `root`, or must not be read. Throws the disk's errors. */
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
