import path from 'node:path'
import type { TileMatrixSetId } from '@gateway/contracts/basemap.js'
import { isInPyramid } from '../address.js'
import { listNames, type SampleTile, spread, type ZoomListing } from '../folder/listing.js'
import { type FolderLayout, isLevel, splitName } from './layout.js'

/** Limits: subfolders that are followed per folder, file names read per zoom, and rows kept per zoom. */
const MAX_FOLLOWED = 64
const MAX_FILES = 100_000
const MAX_KEPT = 20_000

interface Found {
  z: number
  complete: boolean
  read: number
  beyond: number
  minColumn: number
  maxColumn: number
  minRow: number
  maxRow: number
  readonly samples: Map<string, SampleTile>
  readonly counts: Map<string, number>
  readonly rows: Map<number, number[]>
}

/** Lists a folder in a layout by ascending zoom, like `listZooms`. `zoomOf` returns undefined for a level to leave out; default: the level itself. */
export async function listLayout(
  root: string,
  folder: string,
  layout: FolderLayout,
  grid: TileMatrixSetId,
  zoomOf: (level: number) => number | undefined = (level) => level,
): Promise<ZoomListing[]> {
  const zooms = new Map<number, Found>()
  await follow([], folder, undefined)
  return [...zooms.values()]
    .filter(({ maxColumn }) => maxColumn >= 0)
    .sort((a, b) => a.z - b.z)
    .map(({ read: _, ...found }) => ({ ...found, folder, columns: [...found.rows.keys()].sort((a, b) => a - b) }))

  async function follow(above: readonly string[], directory: string, inZoom: Found | undefined): Promise<void> {
    const names = await listNames(root, directory)
    const pattern = layout.folders[above.length]
    if (pattern === undefined) {
      for (const name of names) take(above, directory, name)
      return
    }
    const fitting = names.filter((name) => pattern.test(name)).sort()
    // All zooms are followed; the folders below are sampled evenly.
    const followed = above.length === 0 ? fitting : spread(fitting, MAX_FOLLOWED)
    if (inZoom !== undefined && followed.length < fitting.length) inZoom.complete = false
    for (const name of followed) {
      const known =
        above.length === 0 ? zoomFor(layout.read([name, ...layout.folders.slice(1).map(() => '0'), '0']).z) : inZoom
      if (known === undefined) continue
      if (known.read > MAX_FILES) {
        known.complete = false
        break
      }
      await follow([...above, name], path.join(directory, name), known)
    }
  }

  function zoomFor(level: number): Found | undefined {
    const z = zoomOf(level)
    if (z === undefined || !isLevel(z)) return undefined
    const known = zooms.get(z)
    if (known !== undefined) return known
    const extent = { minColumn: Number.POSITIVE_INFINITY, maxColumn: -1, minRow: Number.POSITIVE_INFINITY, maxRow: -1 }
    const made: Found = {
      z,
      complete: true,
      read: 0,
      beyond: 0,
      ...extent,
      samples: new Map(),
      counts: new Map(),
      rows: new Map(),
    }
    zooms.set(z, made)
    return made
  }

  function take(above: readonly string[], directory: string, name: string): void {
    const parts = splitName(layout, name)
    if (parts === null) return
    const [base, extension] = parts
    const { z: level, x, y } = layout.read([...above, base])
    const found = zoomFor(level)
    if (found === undefined) return
    found.read++
    if (!isInPyramid(found.z, x, y, grid)) {
      found.beyond++
      return
    }
    found.minColumn = Math.min(found.minColumn, x)
    found.maxColumn = Math.max(found.maxColumn, x)
    found.minRow = Math.min(found.minRow, y)
    found.maxRow = Math.max(found.maxRow, y)
    if (!found.samples.has(extension)) found.samples.set(extension, { path: path.join(directory, name), extension })
    found.counts.set(extension, (found.counts.get(extension) ?? 0) + 1)
    if (found.read > MAX_KEPT) return
    const same = found.rows.get(x)
    if (same === undefined) found.rows.set(x, [y])
    else same.push(y)
  }
}

/** Yields all tiles of a layout as stored. For processes that handle no requests. */
export async function* allOf(
  root: string,
  folder: string,
  layout: FolderLayout,
  extensions: readonly string[],
): AsyncGenerator<ReturnType<FolderLayout['read']>> {
  yield* below([], folder)

  async function* below(above: readonly string[], directory: string): AsyncGenerator<ReturnType<FolderLayout['read']>> {
    const pattern = layout.folders[above.length]
    for (const name of (await listNames(root, directory)).sort()) {
      if (pattern !== undefined) {
        if (pattern.test(name)) yield* below([...above, name], path.join(directory, name))
        continue
      }
      const parts = splitName(layout, name)
      if (parts !== null && extensions.includes(parts[1])) yield layout.read([...above, parts[0]])
    }
  }
}
