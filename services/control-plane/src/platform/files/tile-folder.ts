import { isInPyramid, parseIndex } from '@gateway/tilesets/address.js'
import { formatOfExtension } from '@gateway/tilesets/formats.js'

/** Files beside the zoom folders of a version that describe it. */
export const METADATA_NAMES: readonly string[] = ['metadata.json', 'tilejson.json', 'tilemapresource.xml']

/** Whether a file below column `x` of zoom `z` is a tile: named by a row of the pyramid and the extension of a tile format. */
export function isTileName(z: number, x: number, name: string): boolean {
  const dot = name.indexOf('.')
  const y = parseIndex(name.slice(0, Math.max(dot, 0)))
  return dot > 0 && y >= 0 && isInPyramid(z, x, y) && formatOfExtension(name.slice(dot + 1)) !== null
}
