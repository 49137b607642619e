import type { Change } from '@gateway/contracts/change.js'
import type { CatalogSize, StoredBasemap } from '@gateway/store/basemaps.js'
import type { StoredStyle } from '@gateway/store/styles.js'
import type { StoredVector } from '@gateway/store/vectors.js'
import type { CatalogRead, StylesRead } from './catalog.js'
import { type CatalogReader, PAGE_ROWS } from './catalog-reader.js'

/** Limit: so few codes are read without asking first how much there is of each. */
const FEW = 20

export interface Reading {
  readonly reader: CatalogReader
  /** see `CatalogReader.read` */
  readonly notBefore: number
  /** awaited before every page; reading many takes long, and something else may be due */
  readonly beforePage: () => Promise<void>
}

/** Basemaps by their codes, null: all, page by page. A basemap is never split over pages: it is of one moment with all of its versions. */
export async function readBasemapPages(reading: Reading, codes: readonly string[] | null) {
  const rows: StoredBasemap[] = []
  for (const page of await pages(reading, 'basemapSizes', codes)) {
    await reading.beforePage()
    rows.push(...(await reading.reader.read('basemaps', page, reading.notBefore)).value)
  }
  return { codes, rows } satisfies CatalogRead<StoredBasemap>
}

/** Vectors by their codes, null: all, page by page. */
export async function readVectorPages(reading: Reading, codes: readonly string[] | null) {
  const rows: StoredVector[] = []
  for (const page of await pages(reading, 'vectorSizes', codes)) {
    await reading.beforePage()
    rows.push(...(await reading.reader.read('vectors', page, reading.notBefore)).value)
  }
  return { codes, rows } satisfies CatalogRead<StoredVector>
}

/** Styles by their codes, null: all, page by page, with the fonts where they may be others. */
export async function readStylePages(reading: Reading, { codes, fonts }: StyleChanges): Promise<StylesRead> {
  const rows: StoredStyle[] = []
  for (const page of await pages(reading, 'styleSizes', codes)) {
    await reading.beforePage()
    rows.push(...(await reading.reader.read('styles', page, reading.notBefore)).value)
  }
  const read = fonts ? (await reading.reader.read('fonts', null, reading.notBefore)).value : null
  return { styles: { codes, rows }, fonts: read }
}

/** Which styles may be others, null: all, and whether fonts may be. */
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

/** Codes in pages of at most so many rows; what is larger by itself has a page of its own. */
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
