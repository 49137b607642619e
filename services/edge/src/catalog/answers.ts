import { createHash } from 'node:crypto'
import { parse } from 'node:querystring'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type AccessToken, isGranted } from '@gateway/access/decide.js'
import { toBasemap } from '@gateway/catalog/basemap.js'
import { pageOf } from '@gateway/catalog/list-in-memory.js'
import { queryRefusal, withoutTokens } from '@gateway/catalog/list-query.js'
import { type ListedVector, READER_BASEMAPS, READER_VECTORS, type ReaderList } from '@gateway/catalog/reader-lists.js'
import { toVector } from '@gateway/catalog/vector.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import type { VectorFacts } from '@gateway/contracts/vector.js'
import { isOffered, type StoredBasemap } from '@gateway/store/basemaps.js'
import { LRUCache } from 'lru-cache'
import type { Catalog, CatalogBasemap, CatalogVector } from '../sync/catalog.js'

/** Limit: bytes of the answers that are kept of one snapshot; what is larger than all of them is made each time. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024
/** Below this a header more weighs as much as what is saved; bytes. The control plane holds the same. */
export const WORTH_COMPRESSING = 1024

const compress = promisify(gzip)

/** A JSON document that many may ask for. */
export class CatalogAnswer {
  readonly body: Buffer
  /** the opaque part of an entity tag, quotes included */
  readonly etag: string
  #gzipped: Promise<Buffer> | null = null

  constructor(text: string) {
    this.body = Buffer.from(text)
    this.etag = `"${createHash('sha256').update(this.body).digest('base64url').slice(0, 27)}"`
  }

  get compressible(): boolean {
    return this.body.length >= WORTH_COMPRESSING
  }

  /** Made once, beside the event loop. */
  gzipped(): Promise<Buffer> {
    this.#gzipped ??= compress(this.body)
    return this.#gzipped
  }
}

/** A kind of the catalog's entries, as this process holds and answers them. */
export interface CatalogKind<Entry extends CatalogBasemap | CatalogVector = CatalogBasemap | CatalogVector> {
  readonly list: ReaderList<StoredBasemap | ListedVector>
  entries(catalog: Catalog): ReadonlyMap<string, Entry>
  grants(token: AccessToken): ReadonlySet<string>
  /** @param vectorBaseUrl VECTOR_PUBLIC_BASE_URL, without a trailing slash */
  answer(entry: Entry, vectorBaseUrl: string): object
}

export const BASEMAPS: CatalogKind<CatalogBasemap> = {
  list: READER_BASEMAPS as ReaderList<StoredBasemap | ListedVector>,
  entries: ({ basemaps }) => basemaps,
  grants: ({ basemaps }) => basemaps,
  answer: ({ stored }) => toBasemap(stored),
}

export const VECTORS: CatalogKind<CatalogVector> = {
  list: READER_VECTORS as ReaderList<StoredBasemap | ListedVector>,
  entries: ({ vectors }) => vectors,
  grants: ({ vectors }) => vectors,
  answer: ({ stored, factsText }, vectorBaseUrl) => {
    const facts = factsText === null ? null : (JSON.parse(factsText) as VectorFacts)
    return toVector({ ...stored, facts }, vectorBaseUrl)
  },
}

/** The answers of a snapshot, which go with it: what is asked of another one is made of that. */
const kept = new WeakMap<Catalog, LRUCache<string, CatalogAnswer>>()
/** What readers may know of, by code, of each collection of entries. */
const offered = new WeakMap<object, readonly (CatalogBasemap | CatalogVector)[]>()
/** The text of each entry, the same in every list that it is in. */
const texts = new WeakMap<object, string>()
/** What a token may list, as a part of a key: of tokens with equal grants it is the same. */
const grantKeys = new WeakMap<ReadonlySet<string>, string>()

/**
 * The list that a token which was admitted may see, by its query (without the question mark); or the refusal of a query that is not
 * understood. Tokens with the same grants share an answer.
 */
export function catalogList<Entry extends CatalogBasemap | CatalogVector>(
  kind: CatalogKind<Entry>,
  catalog: Catalog,
  token: AccessToken,
  query: string,
  vectorBaseUrl: string,
): CatalogAnswer | Refusal {
  const parameters = query === '' ? {} : (withoutTokens(parse(query)) as object)
  const key = `${kind.list.name}s ${grantKey(kind.grants(token))} ${JSON.stringify(parameters)}`
  const known = keptOf(catalog).get(key)
  if (known !== undefined) return known
  const request = kind.list.query.safeParse(parameters)
  if (!request.success) return queryRefusal(request.error)
  const entries = kind.entries(catalog)
  const granted = offeredOf(entries).flatMap(({ stored, wanted }) => (isGranted(token, wanted) ? [stored] : []))
  const { items, total } = pageOf(granted, kind.list.listing, request.data)
  const parts = items.map(({ code }) => textOf(kind, entries.get(code) as Entry, vectorBaseUrl))
  return keep(catalog, key, `{"items":[${parts.join(',')}],"total":${total}}`)
}

/** One entry by its code, for a token that is granted it; null: readers may not know of it. */
export function catalogEntry<Entry extends CatalogBasemap | CatalogVector>(
  kind: CatalogKind<Entry>,
  catalog: Catalog,
  code: string,
  vectorBaseUrl: string,
): CatalogAnswer | Refusal {
  const entry = kind.entries(catalog).get(code)
  if (entry === undefined || !isOffered(entry.stored)) return refuse('not_found', `no such ${kind.list.name}`)
  const key = `${kind.list.name} ${code}`
  return keptOf(catalog).get(key) ?? keep(catalog, key, textOf(kind, entry, vectorBaseUrl))
}

function keptOf(catalog: Catalog): LRUCache<string, CatalogAnswer> {
  const known = kept.get(catalog)
  if (known !== undefined) return known
  // Twice: a compressed copy may come beside it, which is never larger by more than a few bytes.
  const sizeCalculation = ({ body }: CatalogAnswer, key: string) => 2 * body.length + key.length
  const made = new LRUCache<string, CatalogAnswer>({ maxSize: MAX_KEPT_BYTES, sizeCalculation })
  kept.set(catalog, made)
  return made
}

function keep(catalog: Catalog, key: string, text: string): CatalogAnswer {
  const answer = new CatalogAnswer(text)
  keptOf(catalog).set(key, answer)
  return answer
}

function offeredOf<Entry extends CatalogBasemap | CatalogVector>(
  entries: ReadonlyMap<string, Entry>,
): readonly (CatalogBasemap | CatalogVector)[] {
  const known = offered.get(entries)
  if (known !== undefined) return known
  const made = [...entries.values()].filter(({ stored }) => isOffered(stored))
  made.sort(({ stored: one }, { stored: other }) => byCode(one, other))
  offered.set(entries, made)
  return made
}

function textOf<Entry extends CatalogBasemap | CatalogVector>(
  kind: CatalogKind<Entry>,
  entry: Entry,
  vectorBaseUrl: string,
): string {
  const known = texts.get(entry)
  if (known !== undefined) return known
  const made = JSON.stringify(kind.answer(entry, vectorBaseUrl))
  texts.set(entry, made)
  return made
}

function grantKey(grants: ReadonlySet<string>): string {
  const known = grantKeys.get(grants)
  if (known !== undefined) return known
  const made = createHash('sha256')
    .update(JSON.stringify([...grants].sort()))
    .digest('base64url')
  grantKeys.set(grants, made)
  return made
}

/** As the store orders them: codes are ASCII. */
function byCode(one: { readonly code: string }, other: { readonly code: string }): number {
  return one.code < other.code ? -1 : 1
}
