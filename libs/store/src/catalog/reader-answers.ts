import type { Bounds } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import type { VectorFacts } from '@gateway/contracts/vector.js'
import { type AccessToken, isGranted, type WantedResource } from '@gateway/core/access/decide.js'
import { isListed, isOffered, type StoredBasemap } from '@gateway/store/basemaps.js'
import type { ListRequest } from '@gateway/store/listing.js'
import type { StoredStyle } from '@gateway/store/styles.js'
import { toBasemap } from './basemap.js'
import { pageOf } from './list-in-memory.js'
import { type ListedVector, READER_BASEMAPS, READER_STYLES, READER_VECTORS, type ReaderList } from './reader-lists.js'
import { toStyle } from './style.js'
import { toVector } from './vector.js'
import { basemapWithin, vectorWithin } from './within-area.js'

/** See the settings of these names; without a trailing slash. */
export interface PublicBases {
  readonly tilePublicBaseUrl: string
  readonly vectorPublicBaseUrl: string
}

export type Listed = StoredBasemap | ListedVector | StoredStyle

/** Something that readers may list, and what a token must be granted for it. */
export interface ReaderEntry<Stored extends Listed = Listed> {
  readonly stored: Stored
  readonly wanted: NonNullable<WantedResource>
}

/** A vector with its facts as JSON; null: they are not known. */
export type VectorEntry = ReaderEntry<ListedVector> & { readonly factsText: string | null }

/** A kind of entries, and how one is answered. */
export interface ReaderKind<Stored extends Listed, Entry extends ReaderEntry<Stored>> {
  readonly list: ReaderList<Stored>
  /** null: it lies outside the area */
  answer(entry: Entry, bases: PublicBases, area: Bounds | null): object | null
}

export const BASEMAPS: ReaderKind<StoredBasemap, ReaderEntry<StoredBasemap>> = {
  list: READER_BASEMAPS,
  answer: ({ stored }, _, area) => {
    const seen = basemapWithin(stored, area)
    return seen === null ? null : toBasemap(seen)
  },
}

export const VECTORS: ReaderKind<ListedVector, VectorEntry> = {
  list: READER_VECTORS,
  answer: ({ stored, factsText }, { vectorPublicBaseUrl }, area) => {
    const facts = factsText === null ? null : (JSON.parse(factsText) as VectorFacts)
    return vectorWithin(toVector({ ...stored, facts }, vectorPublicBaseUrl), area)
  },
}

export const STYLES: ReaderKind<StoredStyle, ReaderEntry<StoredStyle>> = {
  list: READER_STYLES,
  answer: ({ stored }, { tilePublicBaseUrl }) => toStyle(stored, tilePublicBaseUrl),
}

const OUTSIDE = refuse('outside_bounds', coded('token_outside'))

/** Entries that readers may know of, by code, of each collection of entries. */
const offered = new WeakMap<object, readonly ReaderEntry[]>()
/** The text of each entry, the same in every list that it is in. */
const texts = new WeakMap<object, string>()

/** The list that an admitted token may see, piece by piece. */
export function* listText<Stored extends Listed, Entry extends ReaderEntry<Stored>>(
  kind: ReaderKind<Stored, Entry>,
  entries: ReadonlyMap<string, Entry>,
  token: AccessToken,
  request: ListRequest,
  bases: PublicBases,
): Generator<string> {
  const area = token.limits?.area ?? null
  const granted = offeredOf<Stored, Entry>(entries).flatMap((entry) => {
    const isListed = isGranted(token, entry.wanted) && (area === null || textWithin(kind, entry, bases, area) !== null)
    return isListed ? [entry.stored] : []
  })
  const { items, total } = pageOf(granted, kind.list.listing, request)
  yield '{"items":['
  for (const [i, { code }] of items.entries()) {
    yield `${i === 0 ? '' : ','}${textWithin(kind, entries.get(code) as Entry, bases, area)}`
  }
  yield `],"total":${total}}`
}

/** One entry, for a token that is granted it; the refusal if readers may not know of it, or not in this area. */
export function entryText<Stored extends Listed, Entry extends ReaderEntry<Stored>>(
  kind: ReaderKind<Stored, Entry>,
  entry: Entry | undefined,
  bases: PublicBases,
  area: Bounds | null,
): { readonly entry: Entry; readonly text: string } | Refusal {
  if (entry === undefined || !mayBeKnown(entry.stored))
    return refuse('not_found', coded('nothing_of_kind', { kind: kind.list.name }))
  const text = textWithin(kind, entry, bases, area)
  return text === null ? OUTSIDE : { entry, text }
}

/** True if an entry has a part in the area of a token, or if readers may not know of it, which is another refusal. */
export function isWithin<Stored extends Listed, Entry extends ReaderEntry<Stored>>(
  kind: ReaderKind<Stored, Entry>,
  entry: Entry,
  bases: PublicBases,
  area: Bounds,
): boolean {
  return !mayBeKnown(entry.stored) || kind.answer(entry, bases, area) !== null
}

function mayBeKnown(stored: Listed): boolean {
  return 'versions' in stored ? isListed(stored) : isOffered(stored)
}

function offeredOf<Stored extends Listed, Entry extends ReaderEntry<Stored>>(
  entries: ReadonlyMap<string, Entry>,
): readonly Entry[] {
  const known = offered.get(entries)
  if (known !== undefined) return known as readonly Entry[]
  const made = [...entries.values()].filter(({ stored }) => mayBeKnown(stored))
  // As the store orders them: codes are ASCII.
  made.sort(({ stored: one }, { stored: other }) => (one.code < other.code ? -1 : 1))
  offered.set(entries, made)
  return made
}

/** null: the entry lies outside the area, and a token with that area does not see it */
function textWithin<Stored extends Listed, Entry extends ReaderEntry<Stored>>(
  kind: ReaderKind<Stored, Entry>,
  entry: Entry,
  bases: PublicBases,
  area: Bounds | null,
): string | null {
  if (area !== null) {
    const seen = kind.answer(entry, bases, area)
    return seen === null ? null : JSON.stringify(seen)
  }
  const known = texts.get(entry)
  if (known !== undefined) return known
  const made = JSON.stringify(kind.answer(entry, bases, null))
  texts.set(entry, made)
  return made
}
