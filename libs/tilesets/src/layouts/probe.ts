import { createHash } from 'node:crypto'
import fs from 'node:fs/promises'
import path from 'node:path'
import type { Storage } from '@gateway/contracts/basemap.js'
import { listNames } from '../folder/listing.js'
import { describeFolder, readStart } from '../folder/probe.js'
import { readFolderMetadata } from '../metadata/file.js'
import { conventionOf } from '../rows/with-row-order.js'
import type { TileSetProbe } from '../tile-set.js'
import { FOLDER_LAYOUTS, type FolderLayoutName, splitName } from './layout.js'
import { listLayout } from './listing.js'

/** Maximum number of folders whose modification times are checked. */
const MAX_STAMPED = 20_000

const STORAGES: Readonly<Record<FolderLayoutName, Storage>> = {
  tc: 'mapproxy_tc',
  mp: 'mapproxy_mp',
  arcgis: 'mapproxy_arcgis',
  quadkey: 'quadkey',
  zyx: 'zyx',
}

/** Examines a folder in one of MapProxy's layouts. Returns null if it has none of them. Throws `BrokenArchiveError` and the disk's errors. */
export async function probeLayout(root: string, folder: string): Promise<TileSetProbe | null> {
  const name = await layoutIn(root, folder)
  return name === null ? null : probeAs(root, folder, name)
}

const SHOWN_BY = {
  pictures: 'the tiles of successive zooms fit',
  bounds: 'the bounds of the metadata contain the tiles',
} as const

/** Examines a folder of `{z}/{y}/{x}`, which its pictures or its bounds have shown. @param scheme order of its rows */
export async function probeTransposed(
  root: string,
  folder: string,
  scheme: 'xyz' | 'tms',
  shownBy: keyof typeof SHOWN_BY = 'pictures',
): Promise<TileSetProbe | null> {
  const probe = await probeAs(root, folder, 'zyx', scheme)
  const why = `its folders are {z}/{y}/{x}: ${SHOWN_BY[shownBy]} only in that order, and they are served so; if that is wrong, rename the folders`
  return probe === null ? null : { ...probe, warnings: [why, ...probe.warnings] }
}

async function probeAs(
  root: string,
  folder: string,
  name: FolderLayoutName,
  order: 'xyz' | 'tms' | null = null,
): Promise<TileSetProbe | null> {
  const layout = FOLDER_LAYOUTS[name]
  const storage = STORAGES[name]
  const said = await readFolderMetadata(root, folder)
  const metadata = { ...said, scheme: order ?? said.scheme ?? conventionOf(storage) } as const
  const probe = await describeFolder(metadata, (grid) => listLayout(root, folder, layout, grid), {
    start: (tile) => readStart(root, tile),
    rowsAreFixed: order !== null,
    fingerprint: (about) => layoutFingerprint(root, folder, name, about, said.content),
  })
  if (probe === null) return null
  const isOther = order !== null && said.scheme !== null && said.scheme !== order
  const other = isOther ? [`the metadata says scheme ${said.scheme}, but its rows are those of ${order}`] : []
  const warnings = [...other, ...probe.warnings]
  const rowsAssumed = order === null && probe.rowsAssumed
  return { ...probe, storage, rowsFromNorth: probe.storage === 'xyz', rowsSaid: said.scheme, rowsAssumed, warnings }
}

/** Detects the layout from a small part of the folder's content. */
async function layoutIn(root: string, folder: string): Promise<FolderLayoutName | null> {
  const names = await listNames(root, folder)
  for (const name of ['tc', 'mp', 'arcgis'] as const) {
    if (await leadsToTile(root, folder, name, 0, names)) return name
  }
  return isOfQuadkeys(folder, names) ? 'quadkey' : null
}

async function leadsToTile(
  root: string,
  folder: string,
  layoutName: FolderLayoutName,
  depth: number,
  names: readonly string[],
): Promise<boolean> {
  const layout = FOLDER_LAYOUTS[layoutName]
  const pattern = layout.folders[depth] as RegExp | undefined
  if (pattern === undefined) return names.some((name) => splitName(layout, name) !== null)
  // Checks several folders, because the first may be empty.
  for (const name of names
    .filter((one) => pattern.test(one))
    .sort()
    .slice(0, 3)) {
    const inside = path.join(folder, name)
    if (await leadsToTile(root, inside, layoutName, depth + 1, await listNames(root, inside))) return true
  }
  return false
}

/** True if all names are quadkeys, of different lengths or with a leading zero: rows of a column can look like keys of one length. */
function isOfQuadkeys(folder: string, names: readonly string[]): boolean {
  if (/^\d+$/.test(path.basename(folder)) && /^\d+$/.test(path.basename(path.dirname(folder)))) return false
  const tiles = names.filter((name) => /^\d*\.\w+$/.test(name))
  const keys = tiles.flatMap((name) => splitName(FOLDER_LAYOUTS.quadkey, name)?.[0] ?? [])
  if (keys.length === 0 || keys.length < tiles.length) return false
  const known = new Set(keys)
  return keys.some((key) => key.length > 1 && (key.startsWith('0') || known.has(key.slice(0, -1))))
}

/** Changes when folders appear or disappear, or when tiles are added, removed or replaced in one of the checked folders. */
export async function layoutFingerprint(
  root: string,
  folder: string,
  name: FolderLayoutName,
  about: readonly string[],
  content: readonly Uint8Array[],
): Promise<string> {
  const hash = createHash('sha256')
  hash.update(JSON.stringify(about))
  for (const bytes of content) hash.update(`\n${bytes.length}\n`).update(bytes)
  let left = MAX_STAMPED
  const visit = async (directory: string, depth: number): Promise<void> => {
    if (left-- <= 0) return
    const stat = await fs.stat(directory, { bigint: true }).catch(() => null)
    hash.update(`\n${path.relative(folder, directory)} ${stat?.mtimeNs.toString(36) ?? 'gone'}`)
    const pattern = FOLDER_LAYOUTS[name].folders[depth] as RegExp | undefined
    if (pattern === undefined) return
    for (const one of (await listNames(root, directory)).filter((each) => pattern.test(each)).sort())
      await visit(path.join(directory, one), depth + 1)
  }
  await visit(folder, 0)
  return hash.digest('hex').slice(0, 32)
}
