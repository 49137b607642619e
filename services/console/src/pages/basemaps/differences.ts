import type { BasemapVersion, Bounds } from '@gateway/contracts/basemap.js'

export const COMPARED = ['format', 'tile_size', 'min_zoom', 'max_zoom', 'bounds', 'storage', 'available'] as const
export type Compared = (typeof COMPARED)[number]

/** True if the bounds cover all that Web Mercator can show. */
export function isWorld([west, south, east, north]: Bounds): boolean {
  return west <= -179.9 && south <= -85 && east >= 179.9 && north >= 85
}

/** Returns the properties that differ between two versions and that clients of the same URL notice. */
export function differences(before: BasemapVersion, after: BasemapVersion): readonly Compared[] {
  return COMPARED.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
}

/** The things that clients lose if they continue unchanged with a new default version. */
export interface Losses {
  readonly format: boolean
  readonly zooms: boolean
  readonly unavailable: boolean
}

export function losses(before: BasemapVersion | undefined, after: BasemapVersion): Losses {
  return {
    format: before !== undefined && before.format !== after.format,
    zooms: before !== undefined && (after.max_zoom < before.max_zoom || after.min_zoom > before.min_zoom),
    unavailable: !after.available,
  }
}
