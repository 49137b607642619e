import { closeSync } from 'node:fs'
import { extname } from 'node:path'
import type { ReadFacts } from '@gateway/contracts/vector.js'
import { UNKNOWN_FACTS } from '@gateway/contracts/vector.js'
import { openBelowSync } from '@gateway/core/files/open-below.js'
import { BrokenArchiveError } from '@gateway/tilesets/broken-archive.js'
import { formatOfExtension } from '@gateway/tilesets/formats.js'
import { type Entry, fromFdPromise, type ZipFile } from 'yauzl'
import { factsOfLayers, type Layer } from './layers.js'
import { MAX_LAYERS } from './limits.js'
import { factsOfParts, PART_BYTES, type ReadPart } from './shapefile.js'
import { GEODATABASE, isOfMac } from './unpack-shapefiles.js'

/** The content of a zip, as far as a scan is concerned. */
export type ZipContent =
  | { readonly is: 'shapefiles'; readonly facts: ReadFacts }
  | { readonly is: 'tiles' | 'vectors' | 'geodatabase' | 'mapinfo' | 'other' }

/** Maximum number of entries that are examined. A zip with more is one of tiles, or useless. */
const MAX_ENTRIES = 100_000

/** Matches vector data that is not read inside a zip. */
const VECTORS = /\.(?:geojson|gpkg|fgb|kml|gml|tab|mif|csv|gdbtable|geojsonl)$/i

/**
 * Examines a zip. Only the first bytes of the parts of shapefiles are unpacked, whatever sizes the zip declares. Rejects with
 * `BrokenArchiveError` for other content, and with the disk's errors. Returns null if the file does not exist, or leads out of `root`.
 */
export async function zipContent(root: string, path: string): Promise<ZipContent | null> {
  const opened = openBelowSync(root, path)
  if (!opened.ok) return null
  const zip = await fromFdPromise(opened.fd, { autoClose: false, validateEntrySizes: false }).catch((error: Error) => {
    closeSync(opened.fd)
    throw asBroken(error)
  })
  try {
    return await look(zip)
  } catch (error) {
    throw asBroken(error)
  } finally {
    // The library closes the descriptor when no stream reads from it any more.
    zip.close()
  }
}

async function look(zip: ZipFile): Promise<ZipContent> {
  const parts = new Map<string, Map<string, Entry>>()
  let seen = 0
  let tiles = 0
  let vectors = 0
  let isGeodatabase = false
  let isMapinfo = false
  for await (const entry of zip.eachEntry()) {
    if (++seen > MAX_ENTRIES) break
    const name = entry.fileName
    if (isOfMac(name)) continue
    const extension = extname(name).toLowerCase()
    if (isTile(name) || /\.(?:mbtiles|pmtiles)$/i.test(name)) tiles++
    if (VECTORS.test(name)) vectors++
    if (GEODATABASE.test(name)) isGeodatabase = true
    if (/\.(?:tab|mif)$/i.test(name)) isMapinfo = true
    if (!(extension in PART_BYTES) && extension !== '.shx') continue
    if (entry.isEncrypted()) throw new BrokenArchiveError('its content is encrypted')
    const base = name.slice(0, -extension.length)
    parts.set(base, (parts.get(base) ?? new Map()).set(extension, entry))
  }
  const shapefiles = [...parts.values()].filter((of) => of.has('.shp'))
  if (shapefiles.length > 0) return { is: 'shapefiles', facts: await factsOfAll(zip, shapefiles) }
  if (isGeodatabase) return { is: 'geodatabase' }
  if (isMapinfo) return { is: 'mapinfo' }
  return { is: tiles > 0 ? 'tiles' : vectors > 0 ? 'vectors' : 'other' }
}

/** Matches `{z}/{x}/{y}.{ext}` at any depth. */
function isTile(name: string): boolean {
  const match = /(?:^|\/)\d{1,2}\/\d+\/\d+\.(\w+)$/.exec(name)
  return match !== null && formatOfExtension((match[1] as string).toLowerCase()) !== null
}

async function factsOfAll(zip: ZipFile, shapefiles: readonly ReadonlyMap<string, Entry>[]): Promise<ReadFacts> {
  if (shapefiles.length > MAX_LAYERS) return UNKNOWN_FACTS
  const all: ReadFacts[] = []
  for (const shapefile of shapefiles) {
    const heads = new Map<ReadPart, Buffer>()
    for (const extension of Object.keys(PART_BYTES) as ReadPart[]) {
      const entry = shapefile.get(extension)
      if (entry !== undefined) heads.set(extension, await headOf(zip, entry, PART_BYTES[extension]))
    }
    all.push(
      factsOfParts({
        head: (extension) => heads.get(extension) ?? null,
        size: (extension) => shapefile.get(extension)?.uncompressedSize,
      }),
    )
  }
  const [first] = all
  if (all.length === 1 && first !== undefined) return first
  const encodings = new Set(all.map(({ encoding }) => encoding))
  const layers = all.map(
    (of): Layer => ({
      crs: of.crs,
      bounds: of.bounds,
      geometryType: of.geometry_type,
      count: of.feature_count,
      fields: of.fields,
    }),
  )
  const warnings = all.flatMap((of) => of.warnings ?? []).slice(0, 1)
  return {
    ...factsOfLayers(layers),
    encoding: encodings.size === 1 ? (first?.encoding ?? null) : null,
    encoding_source: encodings.size === 1 ? (first?.encoding_source ?? null) : null,
    ...(warnings.length > 0 && { warnings }),
  }
}

/** Returns the first bytes of an entry. Unpacking stops there. */
async function headOf(zip: ZipFile, entry: Entry, length: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let bytes = 0
  // Leaving the loop ends the stream.
  for await (const piece of await zip.openReadStreamPromise(entry)) {
    pieces.push(piece as Buffer)
    bytes += (piece as Buffer).length
    if (bytes >= length) break
  }
  return Buffer.concat(pieces).subarray(0, length)
}

/** Maps errors of the zip's content, which have no code or one that begins with Z, to a broken archive. Errors of the disk have other codes. */
function asBroken(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException
  if (error instanceof BrokenArchiveError || (code !== undefined && !code.startsWith('Z_'))) return error
  return new BrokenArchiveError(message.slice(0, 200))
}
