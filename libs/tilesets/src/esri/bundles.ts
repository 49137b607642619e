import path from 'node:path'
import { BrokenArchiveError } from '../broken-archive.js'
import type { Directory } from '../pmtiles/directory.js'
import { MAX_PMTILES_ZOOM } from '../pmtiles/layout.js'
import {
  type ArchiveOfRanges,
  type FileSection,
  finish,
  type RangeLayout,
  type ReadSection,
  type SectionSearch,
} from '../ranges/source.js'
import type { FolderOfBundles, TilePlace } from '../source.js'
import { directoryOf, INDEX_BYTES, madeDirectories, NO_TILES, rootOfBlocks } from './bundle-directory.js'
import { BUNDLE_SIDE, type BundleListing, bundleOf, type EsriCache, listBundles } from './cache.js'
import type { PlacedFile } from './files.js'

/** The head of a bundle (Esri, Compact Cache V2): version 3, offsets of 5 bytes, an index of 131,072. Packages leave out the number of records. */
const HEAD_BYTES = 64
const RECORDS = BUNDLE_SIDE * BUNDLE_SIDE
const RECORD_BYTES = 8

/** Maximum number of bundles whose heads are cached as valid. */
const MAX_KNOWN = 10_000

/** The bundles of a package as the leaf directories of an archive. null: PMTiles cannot number the tiles. */
export function archiveOf(cache: EsriCache, zooms: readonly BundleListing[]): Omit<ArchiveOfRanges, 'leaf'> | null {
  const [minZoom, maxZoom] = [zooms[0]?.z ?? 0, zooms.at(-1)?.z ?? 0]
  if (cache.about.grid !== 'WebMercatorQuad' || zooms.length === 0 || maxZoom > MAX_PMTILES_ZOOM) return null
  const blocks = zooms.flatMap(({ z, bundles }) => bundles.map(({ row, column }) => ({ z, x: column, y: row })))
  return { minZoom, maxZoom, ...rootOfBlocks(blocks) }
}

/** Finds tiles in bundles. Reads the eight-byte record of each tile on every request, so that changes to a bundle are seen. */
export class BundleLayout implements RangeLayout {
  readonly #cache: EsriCache
  readonly #known = new Set<string>()
  readonly archive?: ArchiveOfRanges
  readonly bundles?: FolderOfBundles

  /** @param place the bundles of a package, or the folder of a cache */
  constructor(cache: EsriCache, place: readonly BundleListing[] | string) {
    this.#cache = cache
    if (typeof place === 'string') {
      this.bundles = { folder: path.join(place, cache.tiles).replace(/\/$/, ''), levels: cache.about.levels }
      return
    }
    const archive = archiveOf(cache, place)
    if (archive !== null) this.archive = { ...archive, leaf: (place, identity) => this.#leaf(place, identity) }
  }

  *find({ z, x, y }: TilePlace): SectionSearch {
    const level = this.#cache.about.levels.get(z)
    if (level === undefined) return null
    const bundle = yield* this.#open(bundleOf(this.#cache, level, x, y))
    if (bundle === null) return null
    const record = (y % BUNDLE_SIDE) * BUNDLE_SIDE + (x % BUNDLE_SIDE)
    const { path, offset } = bundle
    const bytes = yield { path, offset: offset + HEAD_BYTES + record * RECORD_BYTES, length: RECORD_BYTES }
    return bytes === null ? null : tileAt(bundle, asBuffer(bytes), 0)
  }

  async *addresses(zoom: number, read: ReadSection): AsyncGenerator<readonly [x: number, y: number]> {
    const listing = (await listBundles(this.#cache)).find(({ z }) => z === zoom)
    for (const { name, row, column } of listing?.bundles ?? []) {
      const bundle = await finish(this.#open(name), read)
      if (bundle === null) continue
      const index = await read({
        path: bundle.path,
        offset: bundle.offset + HEAD_BYTES,
        length: INDEX_BYTES,
      })
      if (index === null) continue
      const records = asBuffer(index)
      for (let i = 0; i < RECORDS; i++) {
        if (records.readUIntLE(i * RECORD_BYTES + 5, 3) > 0)
          yield [column + (i % BUNDLE_SIDE), row + Math.floor(i / BUNDLE_SIDE)]
      }
    }
  }

  /** Finds the first tile in a bundle; null if it has none. */
  *firstTile(name: string): SectionSearch {
    const bundle = yield* this.#open(name)
    if (bundle === null) return null
    const { path, offset } = bundle
    const index = yield { path, offset: offset + HEAD_BYTES, length: INDEX_BYTES }
    if (index === null) return null
    const records = asBuffer(index)
    for (let i = 0; i < RECORDS; i++) {
      const tile = tileAt(bundle, records, i * RECORD_BYTES)
      if (tile !== null) return tile
    }
    return null
  }

  *#leaf(place: TilePlace, identity: string): Generator<FileSection, Directory | null, Uint8Array | null> {
    const level = this.#cache.about.levels.get(place.z)
    if (level === undefined) return null
    const name = bundleOf(this.#cache, level, place.x, place.y)
    const known = madeDirectories.get(`${identity} ${name}`)
    if (known !== undefined) return known
    const bundle = yield* this.#open(name)
    if (bundle === null) return null
    const { path, offset, length } = bundle
    const index = yield { path, offset: offset + HEAD_BYTES, length: INDEX_BYTES }
    if (index === null) return null
    let isWhole = true
    const found = directoryOf(place, asBuffer(index), (at, bytes) => {
      isWhole &&= length === null || at + bytes <= length
      return offset + at
    })
    // Requests for the individual tiles report which of them are broken.
    const made = isWhole ? found : NO_TILES
    madeDirectories.set(`${identity} ${name}`, made)
    return made
  }

  *#open(name: string): Generator<FileSection, PlacedFile | null, Uint8Array | null> {
    const bundle = yield* this.#cache.files.place(name)
    if (bundle === null || this.#known.has(name)) return bundle
    const head = yield { path: bundle.path, offset: bundle.offset, length: HEAD_BYTES }
    if (head === null) return null
    const bytes = asBuffer(head)
    const isRight =
      bytes.readUInt32LE(0) === 3 && bytes.readUInt32LE(12) === 5 && bytes.readUInt32LE(60) === INDEX_BYTES
    const isWhole = bundle.length === null || bundle.length >= HEAD_BYTES + INDEX_BYTES
    if (!isRight || !isWhole)
      throw new BrokenArchiveError(`${name} is not a bundle of an Esri compact cache of version 2`)
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.add(name)
    return bundle
  }
}

/** Parses a record: five bytes of offset, three of size (0: there is no tile). */
function tileAt(bundle: PlacedFile, records: Buffer, at: number) {
  const [offset, length] = [records.readUIntLE(at, 5), records.readUIntLE(at + 5, 3)]
  if (length === 0) return null
  if (bundle.length !== null && offset + length > bundle.length)
    throw new BrokenArchiveError('a bundle points beyond its end')
  return { path: bundle.path, offset: bundle.offset + offset, length }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
