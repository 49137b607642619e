import { closeSync, readSync } from 'node:fs'
import { UNKNOWN_FACTS, type VectorFacts } from '@gateway/contracts/vector.js'
import { openBelowSync } from '@gateway/files/open-below.js'
import { Tokenizer } from '@streamparser/json'
import { GeojsonReader } from './geojson-reader.js'
import { MAX_GEOJSON_BYTES } from './limits.js'

/** RFC 8259: the encoding of any JSON that is exchanged. */
const OF_ANY: VectorFacts = { ...UNKNOWN_FACTS, encoding: 'UTF-8', encoding_source: 'format' }

const CHUNK_BYTES = 64 * 1024

/**
 * What the content of a GeoJSON file says: null throughout, but for the encoding, where it is larger than `maxBytes`, nested too deep or
 * broken. Reads it piece by piece, keeping nothing but the facts. Throws what the disk says.
 */
export function geojsonFacts(
  root: string,
  path: string,
  progress: () => void,
  maxBytes = MAX_GEOJSON_BYTES,
): VectorFacts {
  const opened = openBelowSync(root, path)
  if (!opened.ok) return UNKNOWN_FACTS
  try {
    if (opened.size > maxBytes) return OF_ANY
    const reader = new GeojsonReader()
    const isWhole = tokenize(opened.fd, opened.size, reader, progress)
    return isWhole ? { ...OF_ANY, ...reader.facts() } : OF_ANY
  } finally {
    closeSync(opened.fd)
  }
}

/** false: it is no JSON, or what the reader refuses. */
function tokenize(fd: number, size: number, reader: GeojsonReader, progress: () => void): boolean {
  const tokenizer = new Tokenizer()
  let error: Error | null = null
  tokenizer.onToken = ({ token, value }) => reader.take(token, value)
  tokenizer.onError = (first) => {
    error ??= first
  }
  const chunk = Buffer.alloc(CHUNK_BYTES)
  // No further than its size was: a file may grow as fast as it is read.
  for (let at = 0; at < size; ) {
    const length = readSync(fd, chunk, 0, Math.min(chunk.length, size - at), at)
    if (length === 0) return false
    tokenizer.write(chunk.subarray(0, length))
    if (error !== null) return false
    at += length
    progress()
  }
  return reader.isComplete
}
