import type { RowOrder } from '@gateway/contracts/basemap.js'
import { withOverrides } from '@gateway/contracts/version-overrides.js'
import type { TileSetProbe } from '../tile-set.js'

const UNKNOWN =
  'neither its metadata nor its pictures show how its rows are counted: counting from the south is assumed; if that is wrong, override storage'

/** An archive without any metadata, as tile servers keep their caches: their rows are often counted from the north. */
function saysNothing({ storage, name, attribution, description, metadata }: TileSetProbe): boolean {
  const texts = [name, attribution, description]
  return storage === 'mbtiles' && texts.every((text) => text === null) && Object.keys(metadata).length === 0
}

const FROM: Readonly<Record<RowOrder, string>> = { xyz: 'north', tms: 'south' }

/** Returns the probe with the detected row order, and with a warning if it differs from the convention. */
export function withRowOrder(probe: TileSetProbe, order: RowOrder | null): TileSetProbe {
  const assumed = probe.storage === 'mbtiles' ? 'tms' : probe.storage
  if (order === null && saysNothing(probe)) return { ...probe, warnings: [...probe.warnings, UNKNOWN] }
  if (order === null || order === assumed) return probe
  return found(probe, order, 'the metadata does not name it, but the tiles of successive zooms fit only in that order')
}

/** Does the same with the bounds that the metadata declares. */
export function withOrderOfBounds(probe: TileSetProbe, order: RowOrder | null): TileSetProbe {
  const assumed = probe.storage === 'mbtiles' ? 'tms' : probe.storage
  if (order === null || order === assumed) return probe
  return found(probe, order, 'the bounds of the metadata contain the tiles only in that order')
}

function found(probe: TileSetProbe, order: RowOrder, why: string): TileSetProbe {
  const warning = `rows are counted from the ${FROM[order]}: ${why}; if that is wrong, override storage`
  return {
    ...probe,
    ...withOverrides(probe, { storage: order }),
    rowsAssumed: false,
    warnings: [...probe.warnings, warning],
  }
}
