import { parse } from 'node:querystring'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { checkInput } from '@gateway/contracts/input/input-problems.js'
import type { AccessToken } from '@gateway/core/access/decide.js'
import type { StoredBasemap } from '@gateway/store/basemaps.js'
import { withoutTokens } from '@gateway/store/catalog/list-query.js'
import * as reader from '@gateway/store/catalog/reader-answers.js'
import type { ListedVector } from '@gateway/store/catalog/reader-lists.js'
import type { StoredStyle } from '@gateway/store/styles.js'
import type { DocumentRequest } from '../documents/document-cache.js'
import type { Catalog, CatalogBasemap, CatalogStyle, CatalogVector } from '../sync/catalog.js'
import { areaKey, grantKey } from './grant-key.js'

/** A JSON document that many may ask for, and how it is made. */
export type CatalogAnswer = Pick<DocumentRequest, 'of' | 'key' | 'grows' | 'text'>

/** A kind of the catalog's entries, as this process holds them. */
export interface CatalogKind<Stored extends reader.Listed, Entry extends reader.ReaderEntry<Stored>>
  extends reader.ReaderKind<Stored, Entry> {
  entries(catalog: Catalog): ReadonlyMap<string, Entry>
  /** Key that is equal for tokens with the same list. */
  grantKey(token: AccessToken): string
}

export const BASEMAPS: CatalogKind<StoredBasemap, CatalogBasemap> = {
  ...reader.BASEMAPS,
  entries: ({ basemaps }) => basemaps,
  grantKey: ({ basemaps }) => grantKey(basemaps),
}

export const VECTORS: CatalogKind<ListedVector, CatalogVector> = {
  ...reader.VECTORS,
  entries: ({ vectors }) => vectors,
  grantKey: ({ vectors }) => grantKey(vectors),
}

export const STYLES: CatalogKind<StoredStyle, CatalogStyle> = {
  ...reader.STYLES,
  entries: ({ styles }) => styles,
  grantKey: ({ basemaps, vectors }) => `${grantKey(basemaps)} ${grantKey(vectors)}`,
}

/**
 * Returns the list that an admitted token may see, by its query (without the question mark), or the refusal of an invalid query.
 * Tokens with the same grants and area share a response.
 */
export function catalogList<Stored extends reader.Listed, Entry extends reader.ReaderEntry<Stored>>(
  kind: CatalogKind<Stored, Entry>,
  catalog: Catalog,
  token: AccessToken,
  query: string,
  bases: reader.PublicBases,
): CatalogAnswer | Refusal {
  const parameters = query === '' ? {} : (withoutTokens(parse(query)) as object)
  const request = checkInput(kind.list.query, parameters, 'query')
  if (!request.ok) return refuse('invalid_parameters', request.problems)
  const entries = kind.entries(catalog)
  const text = () => reader.listText(kind, entries, token, request.value, bases)
  const area = areaKey(token.limits?.area ?? null)
  const key = `${kind.list.name}s ${kind.grantKey(token)} ${JSON.stringify(parameters)}${area}`
  return { of: entries, key, grows: true, text }
}

/** One entry by its code, for a token that is granted it; or the refusal if readers may not know of it. */
export function catalogEntry<Stored extends reader.Listed, Entry extends reader.ReaderEntry<Stored>>(
  kind: CatalogKind<Stored, Entry>,
  catalog: Catalog,
  code: string,
  bases: reader.PublicBases,
  area: Bounds | null,
): CatalogAnswer | Refusal {
  const found = reader.entryText(kind, kind.entries(catalog).get(code), bases, area)
  if ('ok' in found) return found
  return { of: found.entry, key: `${kind.list.name}${areaKey(area)}`, grows: false, text: () => found.text }
}
