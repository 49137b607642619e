import fs from 'node:fs'
import { promisify } from 'node:util'
import { BrokenArchiveError } from './broken-archive.js'

/** Reads `length` bytes at `offset`; throws `BrokenArchiveError` where the file ends before. The caller bounds `length`. */
export function readExactly(fd: number, offset: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const read = fs.readSync(fd, buffer, filled, length - filled, offset + filled)
    if (read === 0) throw new BrokenArchiveError('the file ends before its content does')
    filled += read
  }
  return buffer
}

const readAsync = promisify(fs.read)

/** `readExactly` without holding the event loop. */
export async function readExactlyLater(fd: number, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await readAsync(fd, buffer, filled, length - filled, offset + filled)
    if (bytesRead === 0) throw new BrokenArchiveError('the file ends before its content does')
    filled += bytesRead
  }
  return buffer
}
