import fs from 'node:fs'
import { promisify } from 'node:util'
import { type NotOpened, openBelow } from './open-below.js'
import { fileCall } from './paced-calls.js'

export type Reading =
  | { readonly ok: true; readonly content: Buffer; readonly identity: string }
  | { readonly ok: false; readonly reason: NotOpened['reason'] | 'too_large' }

const readAsync = promisify(fs.read) as unknown as (
  fd: number,
  buffer: Buffer,
  offset: number,
  length: number,
  position: number,
) => Promise<{ readonly bytesRead: number }>
const closeAsync = promisify(fs.close)

/**
 * Reads a whole file below `root`, opened as `openBelow` does. Every read of a small file of a source goes through it: the file may have been
 * replaced by a link since the scan. Throws errors that do not concern the file itself.
 * @param most bytes; a larger file is not read
 */
export async function readBelow(root: string, file: string, most: number): Promise<Reading> {
  const opened = await openBelow(root, file)
  if (!opened.ok) return opened
  const { fd, size, identity } = opened
  try {
    if (size > most) return { ok: false, reason: 'too_large' }
    const content = Buffer.allocUnsafeSlow(size)
    let filled = 0
    while (filled < size) {
      const [at, left] = [filled, size - filled]
      const count = await fileCall(
        () => fs.readSync(fd, content, at, left, at),
        async () => (await readAsync(fd, content, at, left, at)).bytesRead,
      )
      // It has become shorter meanwhile.
      if (count === 0) break
      filled += count
    }
    return { ok: true, content: content.subarray(0, filled), identity }
  } finally {
    await closeAsync(fd)
  }
}

/** Words for a file that was not read, for a message of its reader. */
export function whyNotRead(reason: Exclude<Reading, { ok: true }>['reason'], most: number): string {
  if (reason === 'outside') return 'it is a link that leads out of the source'
  return reason === 'too_large' ? `it has more than ${most} bytes` : `it is ${reason.replaceAll('_', ' ')}`
}
