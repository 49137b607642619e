import { close, read } from 'node:fs'
import { promisify } from 'node:util'
import { openBelow } from '@gateway/files/open-below.js'

const readAsync = promisify(read)
const closeAsync = promisify(close)

/** RFC 7946: the types that a GeoJSON text may have. */
const GEOJSON_TYPES: ReadonlySet<string> = new Set([
  'FeatureCollection',
  'Feature',
  'Point',
  'MultiPoint',
  'LineString',
  'MultiLineString',
  'Polygon',
  'MultiPolygon',
  'GeometryCollection',
])

/** Writers put `type` first or last; so much of each end is looked at, whatever the file's size. */
const LOOKED_AT_BYTES = 64 * 1024

/**
 * Whether a file is GeoJSON by the `type` of its outermost object. Reads at most both ends of it, and does not prove that all between is
 * well formed. A file that cannot be opened is none; errors of the disk are thrown.
 */
export async function looksLikeGeojson(root: string, path: string): Promise<boolean> {
  const opened = await openBelow(root, path)
  if (!opened.ok) {
    if (opened.reason === 'unreadable') throw new Error('permission denied')
    return false
  }
  try {
    const head = await readText(opened.fd, 0, Math.min(LOOKED_AT_BYTES, opened.size))
    const type = outermostType(head)
    if (type !== null) return GEOJSON_TYPES.has(type)
    if (!/^\s*\{/.test(head) || opened.size <= LOOKED_AT_BYTES) return false
    const tail = await readText(opened.fd, opened.size - LOOKED_AT_BYTES, LOOKED_AT_BYTES)
    return GEOJSON_TYPES.has(lastMemberType(tail) ?? '')
  } finally {
    await closeAsync(opened.fd)
  }
}

async function readText(fd: number, position: number, length: number): Promise<string> {
  const { bytesRead, buffer } = await readAsync(fd, Buffer.alloc(length), 0, length, position)
  return buffer.toString('utf8', 0, bytesRead).replace(/^\uFEFF/, '')
}

/** The value of `type` in the outermost object, as far as the text reaches; null: not found in it. */
export function outermostType(text: string): string | null {
  const token = /"((?:[^"\\]|\\.)*)"|[{}[\]]|[:,]/gy
  let depth = 0
  let key: string | null = null
  let expectsKey = false
  if (!/^\s*\{/.test(text)) return null
  for (let at = 0; at < text.length; at = token.lastIndex) {
    token.lastIndex = at
    const match = token.exec(text)
    if (match === null) {
      // White space, numbers, literals, and the cut at the end of what was read.
      token.lastIndex = at + 1
      continue
    }
    const [symbol, string] = match
    if (string !== undefined) {
      if (depth !== 1) continue
      if (expectsKey) key = string
      else if (key === 'type') return string
    } else if (symbol === '{' || symbol === '[') {
      depth += 1
      if (depth === 1) expectsKey = true
    } else if (symbol === '}' || symbol === ']') depth -= 1
    else if (depth === 1) expectsKey = symbol === ','
  }
  return null
}

/** `..., "type": "FeatureCollection"}` at the very end. */
function lastMemberType(tail: string): string | null {
  return /"type"\s*:\s*"(\w+)"\s*\}\s*$/.exec(tail)?.[1] ?? null
}
