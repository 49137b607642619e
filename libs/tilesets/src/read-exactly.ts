import fs from 'node:fs'
import { promisify } from 'node:util'
import { sentence } from '@gateway/contracts/messages.js'
import { BrokenArchiveError } from './broken-archive.js'

const read = promisify(fs.read)

/**
 * Reads `length` bytes at `offset` into separate memory, so that keeping them does not keep a pool. Rejects with `BrokenArchiveError` if the
 * file ends before: it was truncated since its size was read. The caller limits `length`.
 */
export async function readExactly(fd: number, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await read(fd, buffer, filled, length - filled, offset + filled)
    if (bytesRead === 0) throw new BrokenArchiveError(sentence('said.ends_early'))
    filled += bytesRead
  }
  return buffer
}
