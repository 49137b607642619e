import type { About, Answer, CatalogReader, Dated, What } from '../sync/catalog-reader.js'

/** A reader that returns earlier results from memory, so that a failed reading continues with the page that failed. */
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
    this.#read.set(key, read)
    return read
  }
}
