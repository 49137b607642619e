import { crc32 } from 'node:zlib'
import type { TileFormat } from '@gateway/contracts/basemap.js'
import { localHeader, ZipDirectory, type ZipEntry } from '@gateway/core/files/zip-records.js'
import { type BufferedFile, writeBuffered } from '../buffered-file.js'
import { inUnitsOf, TILE_MATRIX_SETS } from '../tile-matrix-sets.js'
import type { ArchiveDescription, TileToWrite } from '../tile-to-write.js'
import { BUNDLE_SIDE } from './cache.js'

/** Sizes of a bundle's head and of its index of 8 bytes per tile (Esri, Compact Cache V2). */
const HEAD_BYTES = 64
const RECORD_BYTES = 8
const INDEX_BYTES = BUNDLE_SIDE * BUNDLE_SIDE * RECORD_BYTES
/** Limits of a bundle: a record has three bytes for the size of a tile, and an entry of a zip is smaller than 4 GiB. */
const MAX_TILE_BYTES = 0xffffff
const MAX_BUNDLE_BYTES = 0xfffffffe

/** Number of bytes read at once for a checksum. */
const PIECE_BYTES = 1024 * 1024

/** Esri's names of tile formats. The package specification has PNG and JPEG; WebP is in the list of formats of services. */
const FORMATS: Partial<Record<TileFormat, string>> = { png: 'PNG', jpg: 'JPEG', webp: 'WEBP' }

/** Web Mercator as in Esri's own tiling scheme. */
const ORIGIN = { x: -20037508.342787001, y: 20037508.342787001 }
const CELL_SIZE = 156543.03392800014
const DPI = 96
const INCHES_PER_METRE = 39.37
const SPATIAL_REFERENCE = { wkid: 102100, latestWkid: 3857 }

/**
 * Writes a tile package (Esri, Tile Package Specification: `.tpkx`) from XYZ tiles in ascending order of their PMTiles ids: an uncompressed zip
 * with bundles of 128 by 128 tiles. In this order all tiles of a bundle are consecutive, so that only one bundle is open at a time. The file gets
 * its name when it is complete; an error leaves no file behind.
 */
export async function writeTpkx(
  file: string,
  tiles: AsyncIterable<TileToWrite>,
  description: ArchiveDescription,
): Promise<void> {
  await writeBuffered(file, async (output) => {
    const zip = new StoredZip(output)
    let bundle: Bundle | null = null
    let [minZoom, maxZoom] = [Number.POSITIVE_INFINITY, -1]
    for await (const tile of tiles) {
      const name = bundleName(tile)
      if (bundle?.name !== name) {
        await bundle?.finish(zip)
        bundle = new Bundle(name)
        await zip.begin(name)
        await zip.write(Buffer.alloc(HEAD_BYTES + INDEX_BYTES))
      }
      await bundle.add(zip, tile)
      minZoom = Math.min(minZoom, tile.z)
      maxZoom = Math.max(maxZoom, tile.z)
    }
    if (bundle === null) throw new Error('an archive needs at least one tile')
    await bundle.finish(zip)
    for (const [name, text] of descriptions(description, minZoom, maxZoom)) {
      await zip.begin(name)
      await zip.write(Buffer.from(text))
      await zip.end()
    }
    await zip.finish()
  })
}

const hex = (number: number) => (number - (number % BUNDLE_SIDE)).toString(16).padStart(4, '0')

function bundleName({ z, x, y }: TileToWrite): string {
  return `tile/L${String(z).padStart(2, '0')}/R${hex(y)}C${hex(x)}.bundle`
}

/** The current bundle: its tiles are already in the zip, its index is kept here. */
class Bundle {
  readonly name: string
  readonly #start = Buffer.alloc(HEAD_BYTES + INDEX_BYTES)
  #size = HEAD_BYTES + INDEX_BYTES
  #largest = 0

  constructor(name: string) {
    this.name = name
  }

  async add(zip: StoredZip, { x, y, data }: TileToWrite): Promise<void> {
    if (data.length > MAX_TILE_BYTES || this.#size + data.length > MAX_BUNDLE_BYTES)
      throw new Error(`a tile of ${this.name} is larger than a bundle can hold`)
    const size = Buffer.alloc(4)
    size.writeUInt32LE(data.length)
    const record = HEAD_BYTES + ((y % BUNDLE_SIDE) * BUNDLE_SIDE + (x % BUNDLE_SIDE)) * RECORD_BYTES
    this.#start.writeUIntLE(this.#size + size.length, record, 5)
    this.#start.writeUIntLE(data.length, record + 5, 3)
    await zip.write(size)
    await zip.write(data)
    this.#size += size.length + data.length
    this.#largest = Math.max(this.#largest, data.length)
  }

  async finish(zip: StoredZip): Promise<void> {
    const records = BUNDLE_SIDE * BUNDLE_SIDE
    const head = [3, records, this.#largest, 5, 0, 0, this.#size % 2 ** 32, Math.floor(this.#size / 2 ** 32), 40, 0]
    for (const [i, value] of [...head, 20 + INDEX_BYTES, 3, 16, records, 5, INDEX_BYTES].entries())
      this.#start.writeUInt32LE(value, i * 4)
    await zip.end(this.#start)
  }
}

/** An uncompressed zip whose entries are written incrementally: sizes and checksums are written into their heads afterwards. */
class StoredZip {
  readonly #output: BufferedFile
  readonly #directory = new ZipDirectory()
  #entry: { readonly name: string; readonly offset: number; readonly start: number } | null = null

  constructor(output: BufferedFile) {
    this.#output = output
  }

  async begin(name: string): Promise<void> {
    const offset = this.#output.position
    const head = localHeader(entryOf(name, offset, 0, 0))
    await this.write(head)
    this.#entry = { name, offset, start: offset + head.length }
  }

  write(data: Uint8Array): Promise<void> {
    return this.#output.write(data)
  }

  /** @param beginning replaces the first bytes of the entry */
  async end(beginning?: Uint8Array): Promise<void> {
    if (this.#entry === null) throw new Error('no entry is open')
    const { name, offset, start } = this.#entry
    await this.#output.flush()
    if (beginning !== undefined) await this.#output.overwrite(beginning, start)
    const entry = entryOf(name, offset, await this.#checksum(start), this.#output.position - start)
    await this.#output.overwrite(localHeader(entry), offset)
    this.#directory.add(entry)
    this.#entry = null
  }

  async finish(): Promise<void> {
    for (const block of this.#directory.blocks(this.#output.position)) await this.write(block)
  }

  /** Returns the checksum of everything written from a position on, which is still in the page cache. */
  async #checksum(from: number): Promise<number> {
    const { handle, position } = this.#output
    const piece = Buffer.alloc(Math.min(PIECE_BYTES, position - from))
    let sum = 0
    for (let at = from; at < position; ) {
      const { bytesRead } = await handle.read(piece, 0, Math.min(piece.length, position - at), at)
      if (bytesRead === 0) throw new Error('the written file does not exist')
      sum = crc32(piece.subarray(0, bytesRead), sum)
      at += bytesRead
    }
    return sum
  }
}

function entryOf(name: string, offset: number, crc: number, size: number): ZipEntry {
  return { name, offset, crc, size, packedSize: size, mtimeMs: 0, deflated: false, streamed: false, large: false }
}

/** `root.json` describes the tiles, `iteminfo.json` the package for lists in ArcGIS. */
function descriptions(
  { format, tileSize, bounds, metadata }: ArchiveDescription,
  minZoom: number,
  maxZoom: number,
): (readonly [name: string, text: string])[] {
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  const [xmin, ymin, xmax, ymax] = inUnitsOf(TILE_MATRIX_SETS.WebMercatorQuad, bounds)
  const extent = { xmin, ymin, xmax, ymax, spatialReference: SPATIAL_REFERENCE }
  const lods = Array.from({ length: maxZoom + 1 }, (_, level) => {
    const resolution = (CELL_SIZE * 256) / tileSize / 2 ** level
    return { level, resolution, scale: resolution * DPI * INCHES_PER_METRE }
  })
  const name = text(metadata.name)
  const root = {
    packageVersion: 1,
    name,
    description: text(metadata.description),
    copyrightText: text(metadata.attribution),
    spatialReference: SPATIAL_REFERENCE,
    initialExtent: extent,
    fullExtent: extent,
    minLOD: minZoom,
    maxLOD: maxZoom,
    minScale: lods[minZoom]?.scale,
    maxScale: lods[maxZoom]?.scale,
    resampling: false,
    tileInfo: {
      rows: tileSize,
      cols: tileSize,
      dpi: DPI,
      format: FORMATS[format],
      origin: ORIGIN,
      spatialReference: SPATIAL_REFERENCE,
      lods,
    },
    tileImageInfo: { format: FORMATS[format], compressionQuality: 75, antialiasing: 'none' },
    storageInfo: { storageFormat: 'esriMapCacheStorageModeCompactV2', packetSize: BUNDLE_SIDE },
    tileBundlesPath: './tile',
  }
  const item = { type: 'Compact Tile Package', name, title: name, extent: boundsOf(bounds), tags: [], typeKeywords: [] }
  return [
    ['root.json', JSON.stringify(root)],
    ['iteminfo.json', JSON.stringify(item)],
  ]
}

function boundsOf([west, south, east, north]: ArchiveDescription['bounds']) {
  return [
    [west, south],
    [east, north],
  ]
}
