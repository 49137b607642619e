import type { Change } from '@gateway/contracts/change.js'
import type { CatalogSize, StoredBasemap } from '@gateway/store/basemaps.js'
import type { StoredStyle } from '@gateway/store/styles.js'
import type { StoredVector } from '@gateway/store/vectors.js'
import type { CatalogRead, StylesRead } from './catalog.js'
import { type CatalogReader, PAGE_ROWS } from './catalog-reader.js'

/** Limit: number of codes that are read without first asking for their sizes. */
const FEW = 20

export interface Reading {
  readonly reader: CatalogReader
  /** See `CatalogReader.read`. */
  readonly notBefore: number
  /** Awaited before every page, because reading many pages takes long, and other work may be due. */
  readonly beforePage: () => Promise<void>
}

/**
 * Reads basemaps by their codes (null: all) in pages. A basemap is never split over pages, so that it and all of its versions are of one
 * moment.
 */
export async function readBasemapPages(reading: Reading, codes: readonly string[] | null) {
  const rows: StoredBasemap[] = []
  for (const page of await pages(reading, 'basemapSizes', codes)) {
    await reading.beforePage()
    rows.push(...(await reading.reader.read('basemaps', page, reading.notBefore)).value)
  }
  return { codes, rows } satisfies CatalogRead<StoredBasemap>
}

/** Reads vectors by their codes (null: all) in pages. */
export async function readVectorPages(reading: Reading, codes: readonly string[] | null) {
  const rows: StoredVector[] = []
  for (const page of await pages(reading, 'vectorSizes', codes)) {
    await reading.beforePage()
    rows.push(...(await reading.reader.read('vectors', page, reading.notBefore)).value)
  }
  return { codes, rows } satisfies CatalogRead<StoredVector>
}

/** Reads styles by their codes (null: all) in pages, with the fonts if they may have changed. */
export async function readStylePages(reading: Reading, { codes, fonts }: StyleChanges): Promise<StylesRead> {
  const rows: StoredStyle[] = []
  for (const page of await pages(reading, 'styleSizes', codes)) {
    await reading.beforePage()
    rows.push(...(await reading.reader.read('styles', page, reading.notBefore)).value)
  }
  const read = fonts ? (await reading.reader.read('fonts', null, reading.notBefore)).value : null
  return { styles: { codes, rows }, fonts: read }
}

/** Codes of the styles that may have changed (null: all), and whether fonts may have changed. */
export interface StyleChanges {
  readonly codes: readonly string[] | null
  readonly fonts: boolean
}

export const ALL_STYLES: StyleChanges = { codes: null, fonts: true }

export function styleChangesOf(changes: readonly Pick<Change, 'kind' | 'key'>[]): StyleChanges {
  const codes = changes.flatMap(({ kind, key }) => (kind === 'style' ? [key] : []))
  return { codes: [...new Set(codes)], fonts: changes.some(({ kind }) => kind === 'font') }
}

async function pages(
  { reader, notBefore }: Reading,
  sizes: 'basemapSizes' | 'vectorSizes' | 'styleSizes',
  codes: readonly string[] | null,
): Promise<readonly (readonly string[])[]> {
  if (codes?.length === 0) return []
  if (codes !== null && codes.length <= FEW) return [codes]
  return inPages((await reader.read(sizes, codes, notBefore)).value, PAGE_ROWS)
}

/** Splits codes into pages of at most this many rows; a larger basemap, vector or style has its own page. */
function inPages(sizes: readonly CatalogSize[], maxRows: number): readonly (readonly string[])[] {
  const all: string[][] = []
  let room = 0
  for (const { code, rows } of sizes) {
    const last = all.at(-1)
    if (last === undefined || rows > room) {
      all.push([code])
      room = maxRows - rows
    } else {
      last.push(code)
      room -= rows
    }
  }
  return all
}
