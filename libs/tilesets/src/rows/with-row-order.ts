import type { RowOrder, Storage } from '@gateway/contracts/basemap.js'
import { rowOrderOf, withOverrides } from '@gateway/contracts/version-overrides.js'
import { commonParts } from '../area.js'
import type { TileSetProbe } from '../tile-set.js'

/** Orders of a tile's numbers: those of `{z}/{x}/{y}`, and of `{z}/{y}/{x}` with rows from the north or from the south. */
export type NumberOrder = RowOrder | 'zyx' | 'zyx_tms'

const UNKNOWN =
  'neither its metadata nor its pictures show how its rows are counted: counting from the south is assumed; if that is wrong, override storage'

/** An archive without any metadata, as tile servers keep their caches: their rows are often counted from the north. */
function saysNothing({ storage, name, attribution, description, metadata }: TileSetProbe): boolean {
  const texts = [name, attribution, description]
  return storage === 'mbtiles' && texts.every((text) => text === null) && Object.keys(metadata).length === 0
}

const FROM: Readonly<Record<RowOrder, string>> = { xyz: 'north', tms: 'south' }
const BEGIN = 'rows are counted from the'

/** Order of rows by the convention of a storage: MapProxy counts as in the grid of the cache, which is its default grid here. */
const CONVENTION: ReadonlyMap<Storage, RowOrder> = new Map<Storage, RowOrder>([
  ['xyz', 'xyz'],
  ['tms', 'xyz'],
  ['mapproxy_tc', 'tms'],
  ['mapproxy_mp', 'tms'],
  ['mapproxy_arcgis', 'xyz'],
  ['quadkey', 'xyz'],
])

/** Returns the order of the convention; null: the storage has none, or its rows are not counted differently. */
export function conventionOf(storage: Storage): RowOrder | null {
  return CONVENTION.get(storage) ?? null
}

/** Returns the order of the convention, or of the declaration. */
function assumedOrder({ storage, rowsSaid }: TileSetProbe): RowOrder | null {
  return storage === 'mbtiles' ? 'tms' : (rowsSaid ?? conventionOf(storage))
}

/** Returns the probe with the row order that its pictures show, and with a warning if it differs from the declaration or the convention. */
export function withRowOrder(probe: TileSetProbe, order: RowOrder | null): TileSetProbe {
  return withUsefulBounds(ordered(probe, order))
}

/** Replaces declared bounds that contain no tile in the order that was found. */
function withUsefulBounds(probe: TileSetProbe): TileSetProbe {
  const { bounds, boundsDerived, extents, warnings } = probe
  const order = rowOrderOf(probe)
  const extent = order === null ? null : (extents?.[order] ?? null)
  if (bounds === null || boundsDerived || extent === null || commonParts(bounds, extent).length > 0) return probe
  const why = `the bounds ${bounds.join(', ')} contain no tile; those of the tiles are used: ${extent.join(', ')}`
  return { ...probe, bounds: extent, boundsDerived: true, warnings: [...warnings, why] }
}

function ordered(probe: TileSetProbe, order: RowOrder | null): TileSetProbe {
  if (order === null) {
    const isOpen = rowOrderOf(probe) === assumedOrder(probe)
    if (saysNothing(probe)) return { ...probe, warnings: [...probe.warnings, UNKNOWN] }
    return isOpen && contradicts(probe) ? { ...probe, warnings: [...probe.warnings, doubt(probe)] } : probe
  }
  if (order === rowOrderOf(probe)) return probe
  const { [order]: from } = FROM
  if (order === assumedOrder(probe)) {
    const kept = `the bounds contain the tiles only with rows from the other side, but the tiles of successive zooms fit only with rows from the ${from}: they are kept so`
    const warnings = probe.warnings.filter((warning) => !warning.startsWith(BEGIN))
    return { ...probe, ...withOverrides(probe, { storage: order }), rowsAssumed: false, warnings: [...warnings, kept] }
  }
  return found(probe, order, `${against(probe, order)}the tiles of successive zooms fit only in that order`)
}

/** Does the same with the bounds that the metadata declares. The pictures may still show another order. */
export function withOrderOfBounds(probe: TileSetProbe, order: RowOrder | null): TileSetProbe {
  if (order === null || order === assumedOrder(probe))
    return { ...probe, rowsAssumed: probe.rowsAssumed && order === null }
  const made = found(
    probe,
    order,
    `${against(probe, order)}the bounds of the metadata contain the tiles only in that order`,
  )
  return { ...made, rowsAssumed: probe.rowsAssumed }
}

/** True if the metadata of an archive declares the other order, which its format does not have. */
function contradicts(probe: TileSetProbe): boolean {
  return probe.storage === 'mbtiles' && probe.rowsSaid === 'xyz'
}

function doubt(probe: TileSetProbe): string {
  return `its metadata says scheme ${probe.rowsSaid}, which MBTiles do not have, and its pictures do not show the order: counting from the south is assumed; if that is wrong, override storage`
}

function against({ storage, rowsSaid }: TileSetProbe, order: RowOrder): string {
  if (rowsSaid != null && rowsSaid !== order) return `the metadata says scheme ${rowsSaid}, but `
  if (rowsSaid === order) return ''
  return storage === 'mbtiles' ? '' : 'the metadata does not name it, but '
}

function found(probe: TileSetProbe, order: RowOrder, why: string): TileSetProbe {
  const warning = `${BEGIN} ${FROM[order]}: ${why}; if that is wrong, override storage`
  const others = probe.warnings.filter((one) => !one.startsWith(BEGIN))
  return {
    ...probe,
    ...withOverrides(probe, { storage: order }),
    rowsAssumed: false,
    warnings: [...others, warning],
  }
}
