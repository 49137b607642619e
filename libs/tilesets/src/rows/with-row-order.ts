import type { RowOrder } from '@gateway/contracts/basemap.js'
import { withOverrides } from '@gateway/contracts/version-overrides.js'
import type { TileSetProbe } from '../tile-set.js'

const UNKNOWN =
  'nothing says how its rows are counted, and its pictures do not tell: they are taken from the south; if that is wrong, override storage'

/** An archive without any metadata, as tile servers keep their caches: their rows are often counted from the north. */
function saysNothing({ storage, name, attribution, description, metadata }: TileSetProbe): boolean {
  const texts = [name, attribution, description]
  return storage === 'mbtiles' && texts.every((text) => text === null) && Object.keys(metadata).length === 0
}

const FROM: Readonly<Record<RowOrder, string>> = { xyz: 'north', tms: 'south' }

/** The probe with its rows counted as was found out, and a warning if that is not what the convention has. */
export function withRowOrder(probe: TileSetProbe, order: RowOrder | null): TileSetProbe {
  const assumed = probe.storage === 'mbtiles' ? 'tms' : probe.storage
  if (order === null && saysNothing(probe)) return { ...probe, warnings: [...probe.warnings, UNKNOWN] }
  if (order === null || order === assumed) return probe
  return found(
    probe,
    order,
    'nothing beside the tiles says so, but their pictures fit those of the zooms above in that order only',
  )
}

/** The same by the bounds that the metadata states. */
export function withOrderOfBounds(probe: TileSetProbe, order: RowOrder | null): TileSetProbe {
  const assumed = probe.storage === 'mbtiles' ? 'tms' : probe.storage
  if (order === null || order === assumed) return probe
  return found(probe, order, 'the bounds of the metadata hold the tiles in that order only')
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
