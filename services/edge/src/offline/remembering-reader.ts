import type { About, Answer, CatalogReader, Dated, What } from '../sync/catalog-reader.js'

/** Kinds that are read in pages. The caller keeps the rows of a page before it reads the next page, so the rows are not remembered here. */
const PAGES: ReadonlySet<What> = new Set(['basemaps', 'vectors', 'styles'])

/**
 * A reader with which a failed reading continues with the page that failed: it returns earlier results from memory, and no rows for pages that
 * were returned before.
 */
export class RememberingReader implements CatalogReader {
  readonly #reader: CatalogReader
  readonly #read = new Map<string, Dated<unknown>>()

  constructor(reader: CatalogReader) {
    this.#reader = reader
  }

  async read<W extends What>(what: W, about: About<W>, notBefore: number): Promise<Dated<Answer<W>>> {
    const key = JSON.stringify([what, about])
    const known = this.#read.get(key) as Dated<Answer<W>> | undefined
    if (known !== undefined) return known
    const read = await this.#reader.read(what, about, notBefore)
    this.#read.set(key, PAGES.has(what) ? { ...read, value: [] } : read)
    return read
  }
}
