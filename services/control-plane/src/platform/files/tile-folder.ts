import { isInPyramid, parseIndex } from '@gateway/tilesets/address.js'
import { formatOfExtension } from '@gateway/tilesets/formats.js'

/** Files next to the zoom folders of a version that describe it. */
export const METADATA_NAMES: readonly string[] = ['metadata.json', 'tilejson.json', 'tilemapresource.xml']

/** True if a file below column `x` of zoom `z` is a tile: its name is a row of the pyramid with the extension of a tile format. */
export function isTileName(z: number, x: number, name: string): boolean {
  const dot = name.indexOf('.')
  const y = parseIndex(name.slice(0, Math.max(dot, 0)))
  return dot > 0 && y >= 0 && isInPyramid(z, x, y) && formatOfExtension(name.slice(dot + 1)) !== null
}

/** The files of Esri's caches and of MapProxy's layouts, below the folder of their version. */
const PARTS_OF_SETS: readonly RegExp[] = [
  /^(?:Layers\/|p12\/)?(?:conf\.xml|conf\.cdi|root\.json)$/,
  /^(?:Layers\/|p12\/)?(?:_alllayers\/|tile\/)?L\d\d\/R[0-9a-f]{4,8}C[0-9a-f]{4,8}\.bundle$/i,
  /^(?:Layers\/|p12\/)?(?:_alllayers\/|tile\/)?L\d\d\/R[0-9a-f]{8}\/C[0-9a-f]{8}\.(\w+)$/,
  /^\d\d\/\d{3}\/\d{3}\/\d{3}\/\d{3}\/\d{3}\/\d{3}\.(\w+)$/,
  /^\d\d\/\d{4}\/\d{4}\/\d{4}\/\d{4}\.(\w+)$/,
  /^[0-3]{0,30}\.(\w+)$/,
]

/** True if a file is part of a set in the layout of another maker, or describes one. */
export function isPartOfSet(name: string): boolean {
  if (METADATA_NAMES.includes(name)) return true
  return PARTS_OF_SETS.some((pattern) => {
    const match = pattern.exec(name)
    return match !== null && (match[1] === undefined || formatOfExtension(match[1]) !== null)
  })
}

/** Extensions of versions that consist of one file. */
export const ARCHIVE_EXTENSIONS: readonly string[] = [
  '.mbtiles',
  '.pmtiles',
  '.tpkx',
  '.vtpk',
  '.gpkg',
  '.tif',
  '.tiff',
]

export function isArchiveExtension(extension: string): boolean {
  return ARCHIVE_EXTENSIONS.includes(extension)
}
