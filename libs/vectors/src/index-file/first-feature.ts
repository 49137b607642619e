import fs from 'node:fs'
import { openBelow } from '@gateway/core/files/open-below.js'
import type { VectorSource } from './convert.js'

/** Maximum number of bytes in which the first feature is searched for. */
const HEAD_BYTES = 4 * 1024 * 1024

/** Kinds of feature ids in a GeoJSON file. `property`: GDAL makes a field `id` of text ids, which is not an attribute of the source. */
export type OwnIds = 'none' | 'number' | 'property'

/** Determines the kind of ids from the first feature of a file. */
export async function ownIdsOf(source: VectorSource): Promise<OwnIds> {
  const feature = await firstFeature(source)
  const id = (feature as { id?: unknown } | null)?.id
  if (typeof id === 'number') return 'number'
  const properties = (feature as { properties?: object | null } | null)?.properties
  return typeof id === 'string' && !Object.hasOwn(properties ?? {}, 'id') ? 'property' : 'none'
}

async function firstFeature({ root, path }: VectorSource): Promise<unknown> {
  const opened = await openBelow(root, path)
  if (!opened.ok) return null
  try {
    const head = Buffer.alloc(HEAD_BYTES)
    const bytesRead = fs.readSync(opened.fd, head, 0, HEAD_BYTES, 0)
    const text = head.toString('utf8', 0, bytesRead)
    const features = text.search(/"features"\s{0,100}:/)
    return objectFrom(text, text.indexOf('{', features < 0 ? 0 : features + 1))
  } finally {
    fs.closeSync(opened.fd)
  }
}

/** Parses the object that starts at a brace; returns null if it does not end within this text. */
function objectFrom(text: string, start: number): unknown {
  let depth = 0
  let quoted = false
  for (let i = start; i >= 0 && i < text.length; i++) {
    const char = text[i]
    if (quoted) {
      if (char === '\\') i++
      else if (char === '"') quoted = false
    } else if (char === '"') quoted = true
    else if (char === '{') depth++
    else if (char === '}' && --depth === 0) {
      try {
        return JSON.parse(text.slice(start, i + 1))
      } catch {
        return null
      }
    }
  }
  return null
}
