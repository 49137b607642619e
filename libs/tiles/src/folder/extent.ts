import type { Bounds } from '@gateway/contracts/basemap.js'
import { flipRow } from '../address.js'
import type { ZoomListing } from './listing.js'

/** A rectangle in fractions of the Web Mercator square: x from the west, y from the north. */
interface Box {
  readonly west: number
  readonly north: number
  readonly east: number
  readonly south: number
}

/**
 * Bounds that hold every tile, as far as listing tells. The deepest zoom that was listed whole gives them most tightly; a zoom that
 * reaches beyond it (a world overview above a city, say) widens them. Bounds too small would hide tiles from map clients.
 */
export function extentOf(zooms: readonly ZoomListing[], scheme: 'xyz' | 'tms'): Bounds | null {
  const base = zooms.findLast((zoom) => zoom.complete) ?? zooms[0]
  if (base === undefined) return null
  let box = boxOf(base, scheme)
  for (const zoom of [...zooms].reverse()) {
    const own = boxOf(zoom, scheme)
    const covered = snap(box, zoom.z)
    const within =
      own.west >= covered.west && own.north >= covered.north && own.east <= covered.east && own.south <= covered.south
    if (!within) box = union(box, own)
  }
  return [longitude(box.west), latitude(box.south), longitude(box.east), latitude(box.north)]
}

function boxOf(zoom: ZoomListing, scheme: 'xyz' | 'tms'): Box {
  const size = 2 ** zoom.z
  const top = scheme === 'tms' ? flipRow(zoom.z, zoom.maxRow) : zoom.minRow
  const bottom = scheme === 'tms' ? flipRow(zoom.z, zoom.minRow) : zoom.maxRow
  return {
    west: zoom.minColumn / size,
    north: top / size,
    east: (zoom.maxColumn + 1) / size,
    south: (bottom + 1) / size,
  }
}

/** The box grown to whole tiles of a zoom. */
function snap(box: Box, z: number): Box {
  const size = 2 ** z
  return {
    west: Math.floor(box.west * size) / size,
    north: Math.floor(box.north * size) / size,
    east: Math.ceil(box.east * size) / size,
    south: Math.ceil(box.south * size) / size,
  }
}

function union(a: Box, b: Box): Box {
  return {
    west: Math.min(a.west, b.west),
    north: Math.min(a.north, b.north),
    east: Math.max(a.east, b.east),
    south: Math.max(a.south, b.south),
  }
}

function longitude(x: number): number {
  return x * 360 - 180
}

function latitude(y: number): number {
  return (Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180) / Math.PI
}
