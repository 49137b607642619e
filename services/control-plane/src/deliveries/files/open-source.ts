import { close, createReadStream, readFile } from 'node:fs'
import { promisify } from 'node:util'
import { CodedError, coded } from '@gateway/contracts/messages.js'
import { type OpenedFile, openBelow } from '@gateway/core/files/open-below.js'
import { hasUnfinishedWrites } from '@gateway/tilesets/mbtiles/unfinished-writes.js'
import type { Bundle, BundleFile } from './bundle.js'

/** Size of a read: small enough that hundreds of transfers which wait for their receivers hold little memory. */
export const CHUNK_BYTES = 64 * 1024

/** Opens a file of a bundle, verified to be in its root. Throws, with a message for operators, if it cannot be read. */
export async function openSource(bundle: Bundle, file: BundleFile): Promise<OpenedFile> {
  const opened = await openBelow(bundle.root, file.path)
  if (opened.ok) {
    if (!(await hasUnfinishedWrites(opened.realPath))) return opened
    await closeFd(opened.fd)
    throw changed(file.name)
  }
  throw new CodedError(
    coded('delivery_file_unreadable', { file: file.name, words: opened.reason.replaceAll('_', ' ') }),
  )
}

const readWhole = promisify(readFile) as (fd: number) => Promise<Buffer>
const closeFd = promisify(close)

/** Reads a file no larger than a chunk in one piece, and closes it. Throws if its size has changed since it was opened. */
export async function contentOf(name: string, opened: OpenedFile): Promise<Buffer> {
  try {
    const content = await readWhole(opened.fd)
    if (content.length !== opened.size) throw changed(name)
    return content
  } finally {
    await closeFd(opened.fd)
  }
}

/** Reads a file in chunks, up to its size when opened, and closes it at the end. Throws if it has become shorter meanwhile. */
export async function* chunksOf(name: string, opened: OpenedFile): AsyncGenerator<Buffer> {
  const stream = createReadStream('', { fd: opened.fd, start: 0, end: opened.size - 1, highWaterMark: CHUNK_BYTES })
  let read = 0
  for await (const chunk of stream) {
    read += chunk.length
    yield chunk
  }
  if (read !== opened.size) throw changed(name)
}

function changed(name: string): Error {
  return new CodedError(coded('delivery_file_changed', { file: name }))
}
