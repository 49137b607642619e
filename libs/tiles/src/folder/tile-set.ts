import { flipRow } from '../address.js'
import type { TileSet } from '../tile-set.js'

/** A version that lies as `{folder}/{z}/{x}/{y}.{extension}`, rows counted as `storage` says. `locate` does no I/O and names any tile. */
export function openFolderTileSet(storage: 'xyz' | 'tms', root: string, folder: string, extension: string): TileSet {
  const suffix = `.${extension}`
  return {
    storage,
    locate: (z, x, y) => ({
      kind: 'file',
      root,
      path: `${folder}/${z}/${x}/${storage === 'tms' ? flipRow(z, y) : y}${suffix}`,
    }),
    close: () => {},
  }
}
