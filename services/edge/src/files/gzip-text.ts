import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { constants, createGzip, gzip } from 'node:zlib'

/** Compression level for text that one request asks for: a higher one would be slower than the query that makes the text. */
const LEVEL = 1
/** Minimum number of bytes: a smaller text fits into a packet. */
const MIN_BYTES = 1_024

const gzipInThread = promisify(gzip)

/** Returns the text in gzip; null if it is too small to gain anything. */
export async function gzipText(text: Uint8Array): Promise<Uint8Array | null> {
  return text.length < MIN_BYTES ? null : gzipInThread(text, { level: LEVEL })
}

/**
 * Yields pieces of text in gzip, each as soon as it comes. Rejects with the error of the pieces, and returns the generator of the pieces if the
 * reader leaves.
 */
export async function* gzipPieces(pieces: AsyncGenerator<Uint8Array, void>): AsyncGenerator<Uint8Array, void> {
  const packed = createGzip({ level: LEVEL, flush: constants.Z_SYNC_FLUSH })
  // A failure reaches the reader through the stream, which the pipeline destroys.
  const piped = pipeline(pieces, packed).catch(() => {})
  try {
    for await (const piece of packed) yield piece
  } finally {
    packed.destroy()
    await piped
  }
}
