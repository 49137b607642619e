import { createWriteStream, openSync } from 'node:fs'
import { extname, join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Entry, fromFdPromise, type ZipFile } from 'yauzl'
import { DamagedFile } from './feature.js'
import { MAX_LAYERS } from './limits.js'

/** Maximum bytes of all parts together: more than a shapefile may have, whose parts have at most 4 GiB. */
const MAX_UNPACKED_BYTES = 16 * 1024 ** 3
/** Maximum bytes for each packed one. Shapefiles shrink to a third; a bomb to a thousandth. */
const MAX_RATIO = 200
/** Maximum entries that are examined, as in a scan. */
const MAX_ENTRIES = 100_000
const PARTS: ReadonlySet<string> = new Set(['.shp', '.shx', '.dbf', '.prj', '.cpg'])

/** True for the entries with a Mac's file attributes, which have the names and extensions of the files themselves. */
export function isOfMac(entry: string): boolean {
  return /(?:^|\/)(?:__MACOSX\/|\._)/.test(entry)
}

/** Matches a table of a File Geodatabase in a zip: in its folder, or without one. */
export const GEODATABASE = /(?:^|\.gdb\/)[^/]+\.gdbtable$/i

export interface UnpackedShapefile {
  /** path in the zip, without the extension */
  readonly name: string
  /** the unpacked parts by their extension */
  readonly files: Readonly<Record<string, string>>
}

/** Unpacks the shapefiles of a zip, at any depth, into a folder. Throws DamagedFile for a damaged zip, and for one that unpacks to too much. */
export async function unpackShapefiles(
  fd: number,
  scratch: string,
  progress: () => void,
): Promise<UnpackedShapefile[]> {
  // The library closes its descriptor.
  const zip = await fromFdPromise(openSync(`/proc/self/fd/${fd}`, 'r'), { autoClose: false }).catch((error: Error) => {
    throw new DamagedFile(0, error.message)
  })
  try {
    const found = await shapefilesIn(zip)
    if (found.size > MAX_LAYERS) throw new DamagedFile(0, `it has more than ${MAX_LAYERS} shapefiles`)
    const shapefiles: UnpackedShapefile[] = []
    let left = MAX_UNPACKED_BYTES
    for (const [name, entries] of found) {
      const files: Record<string, string> = {}
      for (const [extension, entry] of entries) {
        const part = extension.slice(1)
        files[part] = join(scratch, `${shapefiles.length}.${part}`)
        left -= await unpack(zip, entry, files[part], left, progress)
      }
      shapefiles.push({ name, files })
    }
    return shapefiles
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    // Errors of the disk have a code.
    if (error instanceof DamagedFile || (code !== undefined && !code.startsWith('Z_'))) throw error
    throw new DamagedFile(0, message)
  } finally {
    zip.close()
  }
}

async function shapefilesIn(zip: ZipFile): Promise<Map<string, Map<string, Entry>>> {
  const parts = new Map<string, Map<string, Entry>>()
  let seen = 0
  for await (const entry of zip.eachEntry()) {
    if (++seen > MAX_ENTRIES) break
    const extension = extname(entry.fileName)
    const part = extension.toLowerCase()
    if (!PARTS.has(part) || isOfMac(entry.fileName)) continue
    const base = entry.fileName.slice(0, -extension.length)
    parts.set(base, (parts.get(base) ?? new Map()).set(part, entry))
  }
  return new Map([...parts].filter(([, of]) => of.has('.shp')))
}

async function unpack(zip: ZipFile, entry: Entry, target: string, left: number, progress: () => void): Promise<number> {
  const most = Math.min(left, Math.max(1024 ** 2, entry.compressedSize * MAX_RATIO))
  let bytes = 0
  const counting = new Transform({
    transform(piece: Buffer, _encoding, done) {
      bytes += piece.length
      progress()
      if (bytes > most) done(new DamagedFile(0, 'it unpacks to too many bytes'))
      else done(null, piece)
    },
  })
  await pipeline(await zip.openReadStreamPromise(entry), counting, createWriteStream(target))
  return bytes
}
