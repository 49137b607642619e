import type { Change } from '@gateway/contracts/change.js'
import type { CatalogSize, StoredBasemap } from '@gateway/store/basemaps.js'
import type { StoredVector } from '@gateway/store/vectors.js'
import type { CatalogRead, StylesRead } from './catalog.js'
import { type About, type Answer, type CatalogReader, PAGE_ROWS } from './catalog-reader.js'

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
  return { codes, rows: await all(basemapPages(reading, codes)) } satisfies CatalogRead<StoredBasemap>
}

/** Reads vectors by their codes (null: all) in pages. */
export async function readVectorPages(reading: Reading, codes: readonly string[] | null) {
  return { codes, rows: await all(vectorPages(reading, codes)) } satisfies CatalogRead<StoredVector>
}

/** Reads styles by their codes (null: all) in pages, with the fonts if they may have changed. */
export async function readStylePages(reading: Reading, { codes, fonts }: StyleChanges): Promise<StylesRead> {
  const rows = await all(stylePages(reading, codes))
  const read = fonts ? (await reading.reader.read('fonts', null, reading.notBefore)).value : null
  return { styles: { codes, rows }, fonts: read }
}

/** Yields the pages of `readBasemapPages`, for a caller that does not need all rows at once. */
export const basemapPages = (reading: Reading, codes: readonly string[] | null) =>
  rowsOf(reading, 'basemaps', 'basemapSizes', codes)
export const vectorPages = (reading: Reading, codes: readonly string[] | null) =>
  rowsOf(reading, 'vectors', 'vectorSizes', codes)
export const stylePages = (reading: Reading, codes: readonly string[] | null) =>
  rowsOf(reading, 'styles', 'styleSizes', codes)

async function* rowsOf<W extends 'basemaps' | 'vectors' | 'styles'>(
  reading: Reading,
  what: W,
  sizes: Sizes,
  codes: readonly string[] | null,
): AsyncGenerator<Answer<W>> {
  for (const page of await pages(reading, sizes, codes)) {
    await reading.beforePage()
    const about = page as About<W>
    yield (await reading.reader.read(what, about, reading.notBefore)).value
  }
}

async function all<T>(read: AsyncIterable<readonly T[]>): Promise<T[]> {
  const rows: T[] = []
  for await (const page of read) rows.push(...page)
  return rows
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

type Sizes = 'basemapSizes' | 'vectorSizes' | 'styleSizes'

async function pages(
  { reader, notBefore }: Reading,
  sizes: Sizes,
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
