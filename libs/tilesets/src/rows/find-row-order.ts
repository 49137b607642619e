import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { rowOrderOf } from '@gateway/contracts/version-overrides.js'
import { openBelow } from '@gateway/core/files/open-below.js'
import { listNames, listNumbers, parseTileName, spread } from '../folder/listing.js'
import { fileExtensions } from '../formats.js'
import { FOLDER_LAYOUTS, type FolderLayoutName, layoutNameOf } from '../layouts/layout.js'
import { listLayout } from '../layouts/listing.js'
import { openDatabase } from '../mbtiles/database.js'
import { findZooms, prepareTileQuery, someOf } from '../mbtiles/queries.js'
import type { TileSetProbe } from '../tile-set.js'
import { orderByContent, type StoredImages } from './by-content.js'
import type { NumberOrder } from './with-row-order.js'

/** Maximum size of an examined image in bytes. */
const MAX_IMAGE_BYTES = 4 * 1024 * 1024
const readAsync = promisify(fs.readFile) as (fd: number) => Promise<Buffer>
const closeAsync = promisify(fs.close)

/** The facts about a set that its row order depends on, with the order that is assumed so far. */
export type RowOrderTask = Pick<TileSetProbe, 'storage' | 'extension' | 'formats' | 'rowsFromNorth' | 'tileMatrixSet'>

/**
 * Determines the order of the numbers of a folder, in any layout, or MBTiles archive from its images. Returns null if they do not show it. Decodes images, which may be
 * malicious, so it must run in a process that can be ended. Throws `BrokenArchiveError` and the disk's errors.
 */
export async function findRowOrder(root: string, file: string, task: RowOrderTask): Promise<NumberOrder | null> {
  const likely = rowOrderOf(task)
  if (task.storage === 'xyz' || task.storage === 'tms')
    return orderByContent(await imagesOfFolder(root, file, fileExtensions(task)), likely)
  const layoutName = layoutNameOf(task.storage)
  if (layoutName !== null) return orderByContent(await imagesOfLayout(root, file, layoutName, task), likely)
  if (task.storage !== 'mbtiles') return null
  const opened = openDatabase(root, file)
  if (!opened.ok) return null
  try {
    const { database, size } = opened
    // `rowsFromNorth` is true only to disable flipping, since places here have rows as stored.
    const query = prepareTileQuery(database, size, true)
    const images: StoredImages = {
      mayBeTransposed: false,
      zooms: findZooms(database, size, 0).zooms,
      some: async (z, limit) => someOf(database, z, limit),
      read: async (place) => {
        const data = query(...place)
        return data === null || data.length > MAX_IMAGE_BYTES ? null : data
      },
    }
    return await orderByContent(images, likely)
  } finally {
    opened.database.close()
  }
}

async function imagesOfFolder(root: string, folder: string, extensions: readonly string[]): Promise<StoredImages> {
  return {
    mayBeTransposed: true,
    zooms: await listNumbers(root, folder),
    some: async (z, limit) => {
      const columns = await listNumbers(root, path.join(folder, String(z)))
      const found = spread(columns, limit).map(async (x) => {
        const names = await listNames(root, path.join(folder, String(z), String(x)))
        const rows = names.flatMap((name) => {
          const tile = parseTileName(z, name)
          return tile !== null && extensions.includes(tile.extension) ? [tile.y] : []
        })
        return spread(rows, columns.length < limit ? limit : 1).map((row) => [z, x, row] as const)
      })
      return spread((await Promise.all(found)).flat(), limit)
    },
    read: async ([z, x, row]) => {
      for (const extension of extensions) {
        const image = await readImage(root, path.join(folder, String(z), String(x), `${row}.${extension}`))
        if (image !== null) return image
      }
      return null
    },
  }
}

async function imagesOfLayout(
  root: string,
  folder: string,
  name: FolderLayoutName,
  task: RowOrderTask,
): Promise<StoredImages> {
  const layout = FOLDER_LAYOUTS[name]
  const extensions = fileExtensions(task)
  const listed = new Map((await listLayout(root, folder, layout, task.tileMatrixSet)).map((zoom) => [zoom.z, zoom]))
  return {
    mayBeTransposed: false,
    zooms: [...listed.keys()],
    some: async (z, limit) => {
      const rows = [...(listed.get(z)?.rows ?? [])]
      const each = Math.ceil(limit / Math.max(1, Math.min(limit, rows.length)))
      return spread(
        spread(rows, limit).flatMap(([x, ys]) => spread(ys, each).map((y) => [z, x, y] as const)),
        limit,
      )
    },
    read: async ([z, x, y]) => {
      for (const extension of extensions) {
        const image = await readImage(root, path.join(folder, `${layout.write({ z, x, y })}.${extension}`))
        if (image !== null) return image
      }
      return null
    },
  }
}

async function readImage(root: string, file: string): Promise<Buffer | null> {
  const opened = await openBelow(root, file)
  if (!opened.ok) return null
  try {
    return opened.size > MAX_IMAGE_BYTES ? null : await readAsync(opened.fd)
  } finally {
    await closeAsync(opened.fd)
  }
}
