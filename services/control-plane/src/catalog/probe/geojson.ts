import { closeSync, readSync } from 'node:fs'
import { GEOJSON_GEOMETRIES } from '@gateway/contracts/vector.js'
import { openBelowSync } from '@gateway/core/files/open-below.js'
import { guessEncoding } from '@gateway/vectors/formats/guess-encoding.js'

/** RFC 7946: valid types of a GeoJSON text. */
const GEOJSON_TYPES: ReadonlySet<string> = new Set(['FeatureCollection', 'Feature', ...GEOJSON_GEOMETRIES])

/** RFC 8142: character in front of each text of a sequence. */
const RECORD_SEPARATOR = '\x1e'

/** Bytes of each end that are read, for files of any size. Writers put `type` first or last. */
const LOOKED_AT_BYTES = 64 * 1024

export type GeojsonFinding = 'geojson' | 'cut off' | 'topojson' | 'something else'

/**
 * Detects GeoJSON by the `type` of the outermost object, and checks that the file ends like an object. Reads at most both ends of the file, and does
 * not prove that the rest is well formed. In a sequence, the objects follow each other. Throws if the file cannot be read. A file that has gone or
 * leads out of `root` is reported as something else.
 */
export function examineGeojson(root: string, path: string, isSequence = false): GeojsonFinding {
  const opened = openBelowSync(root, path)
  if (!opened.ok) {
    if (opened.reason === 'unreadable') throw new Error(`this process may not read ${path}`)
    return 'something else'
  }
  try {
    const begin = read(opened.fd, 0, Math.min(LOOKED_AT_BYTES, opened.size))
    const marked = guessEncoding(begin.subarray(0, 2))
    const isWide = marked === 'UTF-16LE' || marked === 'UTF-16BE'
    const decode = (bytes: Buffer) => (isWide ? new TextDecoder(marked).decode(bytes) : bytes.toString('utf8'))
    const head = decode(begin).replace(/^\uFEFF/, '')
    const start = isSequence ? head.replaceAll(RECORD_SEPARATOR, ' ') : head
    if (!/^\s*\{/.test(start)) return 'something else'
    // A character of UTF-16 begins at an even place.
    const tailStart = 2 * Math.floor(Math.max(0, opened.size - LOOKED_AT_BYTES) / 2)
    const tail = tailStart === 0 ? head : decode(read(opened.fd, tailStart, opened.size - tailStart))
    const type = outermostType(start) ?? lastMemberType(tail)
    if (type === 'Topology') return 'topojson'
    if (type === null || !GEOJSON_TYPES.has(type)) return 'something else'
    return /\}\s*$/.test(tail) ? 'geojson' : 'cut off'
  } finally {
    closeSync(opened.fd)
  }
}

function read(fd: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length)
  return buffer.subarray(0, readSync(fd, buffer, 0, length, position))
}

/** Returns the value of `type` in the outermost object, as far as the text reaches, or null. */
export function outermostType(text: string): string | null {
  // White space, numbers and literals are skipped. A string that the end of the text cuts matches the last alternative.
  const token = /"([^"\\]*(?:\\[\s\S][^"\\]*)*)"|([{}[\]:,])|"/g
  let depth = 0
  let key: string | null = null
  let expectsKey = true
  for (const [whole, string, symbol] of text.matchAll(token)) {
    if (whole === '"') return null
    if (string !== undefined && depth === 1) {
      if (expectsKey) key = string
      else if (key === 'type') return string
    }
    if (symbol === '{' || symbol === '[') depth += 1
    if (symbol === '}' || symbol === ']') depth -= 1
    if (depth === 1 && symbol === ':') expectsKey = false
    if (depth === 1 && symbol === ',') expectsKey = true
  }
  return null
}

/** Matches `..., "type": "FeatureCollection"}` at the very end. */
function lastMemberType(tail: string): string | null {
  return /"type"\s*:\s*"(\w+)"\s*\}\s*$/.exec(tail)?.[1] ?? null
}
