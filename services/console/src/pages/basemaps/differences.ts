import type { BasemapVersion, Bounds } from '@gateway/contracts/basemap.js'

export const COMPARED = ['format', 'tile_size', 'min_zoom', 'max_zoom', 'bounds', 'storage', 'available'] as const
export type Compared = (typeof COMPARED)[number]

/** Whether bounds are all that Web Mercator can show. */
export function isWorld([west, south, east, north]: Bounds): boolean {
  return west <= -179.9 && south <= -85 && east >= 179.9 && north >= 85
}

/** In which of its properties one version differs from another, for clients that read them under the same address. */
export function differences(before: BasemapVersion, after: BasemapVersion): readonly Compared[] {
  return COMPARED.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
}

/** What about a new default takes something away from clients that go on as they are. */
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
