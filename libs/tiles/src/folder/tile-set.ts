import { flipRow } from '../address.js'
import type { TileSet } from '../tile-set.js'

/** A version that lies as `{folder}/{z}/{x}/{y}.{extension}`, rows counted as `storage` says. `locate` does no I/O and names any tile. */
export function openFolderTileSet(storage: 'xyz' | 'tms', root: string, folder: string, extension: string): TileSet {
  const suffix = `.${extension}`
  const locate = (z: number, x: number, y: number) => ({
    kind: 'file' as const,
    root,
    path: `${folder}/${z}/${x}/${storage === 'tms' ? flipRow(z, y) : y}${suffix}`,
  })
  return { storage, locate, locateLater: async (z, x, y) => locate(z, x, y), close: () => {} }
}
