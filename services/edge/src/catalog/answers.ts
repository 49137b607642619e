import { parse } from 'node:querystring'
import { type AccessToken, isGranted } from '@gateway/access/decide.js'
import { toBasemap } from '@gateway/catalog/basemap.js'
import { pageOf } from '@gateway/catalog/list-in-memory.js'
import { withoutTokens } from '@gateway/catalog/list-query.js'
import { type ListedVector, READER_BASEMAPS, READER_VECTORS, type ReaderList } from '@gateway/catalog/reader-lists.js'
import { toVector } from '@gateway/catalog/vector.js'
import { basemapWithin, vectorWithin } from '@gateway/catalog/within-area.js'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { checkInput } from '@gateway/contracts/input/input-problems.js'
import { coded } from '@gateway/contracts/messages.js'
import type { VectorFacts } from '@gateway/contracts/vector.js'
import { isOffered, type StoredBasemap } from '@gateway/store/basemaps.js'
import type { DocumentRequest } from '../documents/document-cache.js'
import type { Catalog, CatalogBasemap, CatalogVector } from '../sync/catalog.js'
import { areaKey, grantKey } from './grant-key.js'

/** A JSON document that many may ask for, and how it is made. */
export type CatalogAnswer = Pick<DocumentRequest, 'of' | 'key' | 'grows' | 'text'>

/** A kind of the catalog's entries, as this process holds and answers them. */
export interface CatalogKind<Entry extends CatalogBasemap | CatalogVector = CatalogBasemap | CatalogVector> {
  readonly list: ReaderList<StoredBasemap | ListedVector>
  entries(catalog: Catalog): ReadonlyMap<string, Entry>
  grants(token: AccessToken): ReadonlySet<string>
  /**
   * null: it lies outside the area
   * @param vectorBaseUrl VECTOR_PUBLIC_BASE_URL, without a trailing slash
   */
  answer(entry: Entry, vectorBaseUrl: string, area: Bounds | null): object | null
}

export const BASEMAPS: CatalogKind<CatalogBasemap> = {
  list: READER_BASEMAPS as ReaderList<StoredBasemap | ListedVector>,
  entries: ({ basemaps }) => basemaps,
  grants: ({ basemaps }) => basemaps,
  answer: ({ stored }, _, area) => {
    const seen = basemapWithin(stored, area)
    return seen === null ? null : toBasemap(seen)
  },
}

export const VECTORS: CatalogKind<CatalogVector> = {
  list: READER_VECTORS as ReaderList<StoredBasemap | ListedVector>,
  entries: ({ vectors }) => vectors,
  grants: ({ vectors }) => vectors,
  answer: ({ stored, factsText }, vectorBaseUrl, area) => {
    const facts = factsText === null ? null : (JSON.parse(factsText) as VectorFacts)
    return vectorWithin(toVector({ ...stored, facts }, vectorBaseUrl), area)
  },
}

const OUTSIDE = refuse('outside_bounds', coded('token_outside'))

/** What readers may know of, by code, of each collection of entries. */
const offered = new WeakMap<object, readonly (CatalogBasemap | CatalogVector)[]>()
/** The text of each entry, the same in every list that it is in. */
const texts = new WeakMap<object, string>()
/**
 * The list that a token which was admitted may see, by its query (without the question mark); or the refusal of a query that is not
 * understood. Tokens with the same grants and area share an answer.
 */
export function catalogList<Entry extends CatalogBasemap | CatalogVector>(
  kind: CatalogKind<Entry>,
  catalog: Catalog,
  token: AccessToken,
  query: string,
  vectorBaseUrl: string,
): CatalogAnswer | Refusal {
  const parameters = query === '' ? {} : (withoutTokens(parse(query)) as object)
  const request = checkInput(kind.list.query, parameters, 'query')
  if (!request.ok) return refuse('invalid_parameters', request.problems)
  const entries = kind.entries(catalog)
  const area = token.limits?.area ?? null
  const text = function* () {
    const granted = offeredOf(entries).flatMap((entry) => {
      const isListed =
        isGranted(token, entry.wanted) &&
        (area === null || textWithin(kind, entry as Entry, vectorBaseUrl, area) !== null)
      return isListed ? [entry.stored] : []
    })
    const { items, total } = pageOf(granted, kind.list.listing, request.value)
    yield '{"items":['
    for (const [i, { code }] of items.entries()) {
      yield `${i === 0 ? '' : ','}${textWithin(kind, entries.get(code) as Entry, vectorBaseUrl, area)}`
    }
    yield `],"total":${total}}`
  }
  const key = `${kind.list.name}s ${grantKey(kind.grants(token))} ${JSON.stringify(parameters)}${areaKey(area)}`
  return { of: entries, key, grows: true, text }
}

/** One entry by its code, for a token that is granted it; null: readers may not know of it. */
export function catalogEntry<Entry extends CatalogBasemap | CatalogVector>(
  kind: CatalogKind<Entry>,
  catalog: Catalog,
  code: string,
  vectorBaseUrl: string,
  area: Bounds | null,
): CatalogAnswer | Refusal {
  const entry = kind.entries(catalog).get(code)
  if (entry === undefined || !isOffered(entry.stored))
    return refuse('not_found', coded('nothing_of_kind', { kind: kind.list.name }))
  const text = textWithin(kind, entry, vectorBaseUrl, area)
  if (text === null) return OUTSIDE
  return {
    of: entry,
    key: `${kind.list.name}${areaKey(area)}`,
    grows: false,
    text: () => text,
  }
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
  const made = JSON.stringify(kind.answer(entry, vectorBaseUrl, null))
  texts.set(entry, made)
  return made
}

/** null: the entry lies outside the area, and a token with that area does not see it */
function textWithin<Entry extends CatalogBasemap | CatalogVector>(
  kind: CatalogKind<Entry>,
  entry: Entry,
  vectorBaseUrl: string,
  area: Bounds | null,
): string | null {
  if (area === null) return textOf(kind, entry, vectorBaseUrl)
  const seen = kind.answer(entry, vectorBaseUrl, area)
  return seen === null ? null : JSON.stringify(seen)
}

/** As the store orders them: codes are ASCII. */
function byCode(one: { readonly code: string }, other: { readonly code: string }): number {
  return one.code < other.code ? -1 : 1
}
