import { parse } from 'node:querystring'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { checkInput } from '@gateway/contracts/input/input-problems.js'
import { coded } from '@gateway/contracts/messages.js'
import type { VectorFacts } from '@gateway/contracts/vector.js'
import { type AccessToken, isGranted } from '@gateway/core/access/decide.js'
import { isOffered, type StoredBasemap } from '@gateway/store/basemaps.js'
import { toBasemap } from '@gateway/store/catalog/basemap.js'
import { pageOf } from '@gateway/store/catalog/list-in-memory.js'
import { withoutTokens } from '@gateway/store/catalog/list-query.js'
import {
  type ListedVector,
  READER_BASEMAPS,
  READER_STYLES,
  READER_VECTORS,
  type ReaderList,
} from '@gateway/store/catalog/reader-lists.js'
import { toStyle } from '@gateway/store/catalog/style.js'
import { toVector } from '@gateway/store/catalog/vector.js'
import { basemapWithin, vectorWithin } from '@gateway/store/catalog/within-area.js'
import type { StoredStyle } from '@gateway/store/styles.js'
import type { DocumentRequest } from '../documents/document-cache.js'
import type { Catalog, CatalogBasemap, CatalogStyle, CatalogVector } from '../sync/catalog.js'
import { areaKey, grantKey } from './grant-key.js'

export type CatalogEntry = CatalogBasemap | CatalogVector | CatalogStyle

/** A JSON document that may be requested many times, and the way to make it. */
export type CatalogAnswer = Pick<DocumentRequest, 'of' | 'key' | 'grows' | 'text'>

/** Base addresses from the settings of these names, without a trailing slash. */
export interface PublicBases {
  readonly tilePublicBaseUrl: string
  readonly vectorPublicBaseUrl: string
}

/** A kind of catalog entries, as this process stores and sends them. */
export interface CatalogKind<Entry extends CatalogEntry = CatalogEntry> {
  readonly list: ReaderList<StoredBasemap | ListedVector | StoredStyle>
  entries(catalog: Catalog): ReadonlyMap<string, Entry>
  /** Key that is equal for tokens with the same list. */
  grantKey(token: AccessToken): string
  /** Returns null if the entry lies outside the area. */
  answer(entry: Entry, bases: PublicBases, area: Bounds | null): object | null
}

export const BASEMAPS: CatalogKind<CatalogBasemap> = {
  list: READER_BASEMAPS as unknown as ReaderList<StoredBasemap | ListedVector | StoredStyle>,
  entries: ({ basemaps }) => basemaps,
  grantKey: ({ basemaps }) => grantKey(basemaps),
  answer: ({ stored }, _, area) => {
    const seen = basemapWithin(stored, area)
    return seen === null ? null : toBasemap(seen)
  },
}

export const VECTORS: CatalogKind<CatalogVector> = {
  list: READER_VECTORS as unknown as ReaderList<StoredBasemap | ListedVector | StoredStyle>,
  entries: ({ vectors }) => vectors,
  grantKey: ({ vectors }) => grantKey(vectors),
  answer: ({ stored, factsText }, { vectorPublicBaseUrl }, area) => {
    const facts = factsText === null ? null : (JSON.parse(factsText) as VectorFacts)
    return vectorWithin(toVector({ ...stored, facts }, vectorPublicBaseUrl), area)
  },
}

export const STYLES: CatalogKind<CatalogStyle> = {
  list: READER_STYLES as unknown as ReaderList<StoredBasemap | ListedVector | StoredStyle>,
  entries: ({ styles }) => styles,
  grantKey: ({ basemaps, vectors }) => `${grantKey(basemaps)} ${grantKey(vectors)}`,
  answer: ({ stored }, { tilePublicBaseUrl }) => toStyle(stored, tilePublicBaseUrl),
}

const OUTSIDE = refuse('outside_bounds', coded('token_outside'))

/** The entries that readers may see, sorted by code, for each collection of entries. */
const offered = new WeakMap<object, readonly CatalogEntry[]>()
/** Text of each entry, the same in every list that contains it. */
const texts = new WeakMap<object, string>()
/**
 * Returns the list that an admitted token may see, by its query (without the question mark), or the refusal of an invalid query.
 * Tokens with the same grants and area share a response.
 */
export function catalogList<Entry extends CatalogEntry>(
  kind: CatalogKind<Entry>,
  catalog: Catalog,
  token: AccessToken,
  query: string,
  bases: PublicBases,
): CatalogAnswer | Refusal {
  const parameters = query === '' ? {} : (withoutTokens(parse(query)) as object)
  const request = checkInput(kind.list.query, parameters, 'query')
  if (!request.ok) return refuse('invalid_parameters', request.problems)
  const entries = kind.entries(catalog)
  const area = token.limits?.area ?? null
  const text = function* () {
    const granted = offeredOf(entries).flatMap((entry) => {
      const isListed =
        isGranted(token, entry.wanted) && (area === null || textWithin(kind, entry as Entry, bases, area) !== null)
      return isListed ? [entry.stored] : []
    })
    const { items, total } = pageOf(granted, kind.list.listing, request.value)
    yield '{"items":['
    for (const [i, { code }] of items.entries()) {
      yield `${i === 0 ? '' : ','}${textWithin(kind, entries.get(code) as Entry, bases, area)}`
    }
    yield `],"total":${total}}`
  }
  const key = `${kind.list.name}s ${kind.grantKey(token)} ${JSON.stringify(parameters)}${areaKey(area)}`
  return { of: entries, key, grows: true, text }
}

/** Returns one entry by its code, for a token with a grant for it; null if readers may not see it. */
export function catalogEntry<Entry extends CatalogEntry>(
  kind: CatalogKind<Entry>,
  catalog: Catalog,
  code: string,
  bases: PublicBases,
  area: Bounds | null,
): CatalogAnswer | Refusal {
  const entry = kind.entries(catalog).get(code)
  if (entry === undefined || !isOffered(entry.stored))
    return refuse('not_found', coded('nothing_of_kind', { kind: kind.list.name }))
  const text = textWithin(kind, entry, bases, area)
  if (text === null) return OUTSIDE
  return {
    of: entry,
    key: `${kind.list.name}${areaKey(area)}`,
    grows: false,
    text: () => text,
  }
}

function offeredOf<Entry extends CatalogEntry>(entries: ReadonlyMap<string, Entry>): readonly CatalogEntry[] {
  const known = offered.get(entries)
  if (known !== undefined) return known
  const made = [...entries.values()].filter(({ stored }) => isOffered(stored))
  made.sort(({ stored: one }, { stored: other }) => byCode(one, other))
  offered.set(entries, made)
  return made
}

function textOf<Entry extends CatalogEntry>(kind: CatalogKind<Entry>, entry: Entry, bases: PublicBases): string {
  const known = texts.get(entry)
  if (known !== undefined) return known
  const made = JSON.stringify(kind.answer(entry, bases, null))
  texts.set(entry, made)
  return made
}

/** Returns null if the entry lies outside the area of the token, which hides it. */
function textWithin<Entry extends CatalogEntry>(
  kind: CatalogKind<Entry>,
  entry: Entry,
  bases: PublicBases,
  area: Bounds | null,
): string | null {
  if (area === null) return textOf(kind, entry, bases)
  const seen = kind.answer(entry, bases, area)
  return seen === null ? null : JSON.stringify(seen)
}

/** Compares codes in the order of the store: codes are ASCII. */
function byCode(one: { readonly code: string }, other: { readonly code: string }): number {
  return one.code < other.code ? -1 : 1
}
