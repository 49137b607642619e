import { createHash } from 'node:crypto'
import { type NotOpened, openBelow } from '@gateway/core/files/open-below.js'
import { BrokenArchiveError } from '../broken-archive.js'
import type { ZoomExtent } from '../folder/extent.js'
import { spread } from '../folder/listing.js'
import { closeLater } from '../ranges/zip.js'
import { matrixAt, matrixSetOf } from '../tile-matrix-sets.js'
import { type CacheDescription, COMPACT_V1, describeCache } from './description.js'
import { type CacheFiles, FolderFiles, ZipFiles } from './files.js'

/** Number of tiles of a bundle in either direction. */
export const BUNDLE_SIDE = 128

/** Maximum number of bundles whose modification times are checked; larger caches are sampled evenly. */
const MAX_STAMPED = 20_000

export interface EsriCache {
  readonly files: CacheFiles
  readonly about: CacheDescription
  /** the folder of the levels, for example `_alllayers/`; empty, or ends in a slash */
  readonly tiles: string
  readonly isExploded: boolean
}

export type CacheOpening =
  | { readonly ok: true; readonly cache: EsriCache; readonly identity: string; close(): void }
  | NotOpened
  | null

/** Opens the cache in a folder or package (`.tpkx`, `.vtpk`). Returns null if the folder contains none. Rejects with `BrokenArchiveError`. */
export async function openCache(root: string, file: string, isPackage: boolean): Promise<CacheOpening> {
  if (!isPackage) {
    const cache = await readCache(new FolderFiles(root, file))
    return cache === null ? null : { ok: true, cache, identity: '', close() {} }
  }
  const opened = await openBelow(root, file)
  if (!opened.ok) return opened
  const close = () => closeLater(opened.fd)
  try {
    const cache = await readCache(await ZipFiles.open(file, opened.fd))
    if (cache === null) throw new BrokenArchiveError('the package has no root.json that describes tiles')
    return { ok: true, cache, identity: opened.identity, close }
  } catch (error) {
    close()
    throw error
  }
}

async function readCache(files: CacheFiles): Promise<EsriCache | null> {
  const about = await describeCache(files)
  if (about === null) return null
  const said = about.tilesPath?.replace(/^\.\//, '').split('/').filter(Boolean).join('/')
  const named = said === undefined || said === '' || said.split('/').includes('..') ? [] : [`${said}/`]
  // Windows does not distinguish cases, so copies of a cache have any.
  const inBase = (await files.list(about.base)).filter((name) => name.toLowerCase() === '_alllayers')
  for (const folder of [...named, ...inBase.map((name) => `${name}/`), 'tile/', '']) {
    const tiles = about.base + folder
    const levels = (await files.list(tiles)).filter((name) => /^L\d\d$/.test(name))
    const first = levels[0]
    if (first === undefined) continue
    const names = await files.list(`${tiles}${first}`)
    if (names.some((name) => /\.bundlx$/i.test(name))) throw new BrokenArchiveError(COMPACT_V1)
    return {
      files,
      about,
      tiles,
      isExploded: !names.some(isBundle) && names.some(isRow),
    }
  }
  return { files, about, tiles: about.base, isExploded: false }
}

/** True for the folder of a row in an exploded cache. */
export function isRow(name: string): boolean {
  return /^R[0-9a-f]{8}$/i.test(name)
}

function isBundle(name: string): boolean {
  return parseBundle(name) !== null
}

/** Parses the first row and column of a bundle from its name; null if it is no bundle. */
export function parseBundle(name: string): { readonly row: number; readonly column: number } | null {
  const match = /^R([0-9a-f]{4,8})C([0-9a-f]{4,8})\.bundle$/i.exec(name)
  if (match === null) return null
  const [row, column] = [Number.parseInt(match[1] as string, 16), Number.parseInt(match[2] as string, 16)]
  return row % BUNDLE_SIDE === 0 && column % BUNDLE_SIDE === 0 ? { row, column } : null
}

const hex = (number: number, digits: number) => number.toString(16).padStart(digits, '0')

/** Returns the folder of a level's tiles. */
export function levelFolder({ tiles }: EsriCache, level: number): string {
  return `${tiles}L${String(level).padStart(2, '0')}`
}

/** Returns the bundle that contains a tile. */
export function bundleOf(cache: EsriCache, level: number, column: number, row: number): string {
  const [top, left] = [row - (row % BUNDLE_SIDE), column - (column % BUNDLE_SIDE)]
  return `${levelFolder(cache, level)}/R${hex(top, 4)}C${hex(left, 4)}.bundle`
}

export interface BundleListing extends ZoomExtent {
  readonly level: number
  readonly bundles: readonly { readonly name: string; readonly row: number; readonly column: number }[]
}

/** Returns the bundles of each zoom with any. Extents are those of the bundles, cut to the grid. */
export async function listBundles(cache: EsriCache): Promise<BundleListing[]> {
  const { grid: tileMatrixSet, tileMatrices } = cache.about
  const set = matrixSetOf({ tileMatrixSet, ...(tileMatrices && { tileMatrices }) })
  const found: BundleListing[] = []
  for (const [z, level] of [...cache.about.levels].sort(([a], [b]) => a - b)) {
    const folder = levelFolder(cache, level)
    const matrix = matrixAt(set, z)
    if (matrix === null) continue
    const bundles = (await cache.files.list(folder)).flatMap((name) => {
      const at = parseBundle(name)
      const isInside = at !== null && at.row < matrix.rows && at.column < matrix.columns
      return isInside ? [{ name: `${folder}/${name}`, ...at }] : []
    })
    if (bundles.length === 0) continue
    const [rows, lefts] = [bundles.map(({ row }) => row), bundles.map(({ column }) => column)]
    const most = (numbers: readonly number[]) => numbers.reduce((a, b) => Math.max(a, b))
    const least = (numbers: readonly number[]) => numbers.reduce((a, b) => Math.min(a, b))
    found.push({
      z,
      level,
      bundles,
      complete: true,
      minColumn: least(lefts),
      maxColumn: Math.min(most(lefts) + BUNDLE_SIDE, matrix.columns) - 1,
      minRow: least(rows),
      maxRow: Math.min(most(rows) + BUNDLE_SIDE, matrix.rows) - 1,
    })
  }
  return found
}

/** Changes when the description or a bundle may have changed. Lists and stats files without reading them. */
export async function cacheFingerprint({ files, about }: EsriCache, zooms: readonly BundleListing[]): Promise<string> {
  const hash = createHash('sha256')
  for (const content of about.content) hash.update(`\n${content.length}\n`).update(content)
  const names = zooms.flatMap(({ bundles }) => bundles.map(({ name }) => name)).sort()
  hash.update(names.join('\n'))
  const stamped = spread(names, MAX_STAMPED)
  for (let i = 0; i < stamped.length; i += 64) {
    hash.update((await Promise.all(stamped.slice(i, i + 64).map((name) => files.stamp(name)))).join())
  }
  return hash.digest('hex').slice(0, 32)
}
