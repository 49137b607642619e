import { VECTOR_KINDS } from '@gateway/contracts/vector.js'
import type { StylePart, WantedResource } from '@gateway/core/access/decide.js'
import type { StoredBasemap } from '@gateway/store/basemaps.js'
import type { ListRequest } from '@gateway/store/listing.js'
import type { StoredStyle, StoredStyleSource } from '@gateway/store/styles.js'
import type { StoredVector } from '@gateway/store/vectors.js'
import { z } from 'zod'
import type { MemoryListing } from './list-in-memory.js'
import { flag, listQuery, text } from './list-query.js'

type Wanted = NonNullable<WantedResource>

/** A list for readers: its grants, and the fields by which it can be searched, sorted and filtered. */
export interface ReaderList<Stored> {
  readonly name: 'basemap' | 'vector' | 'style'
  wanted(stored: Stored): Wanted
  /** the resource for a code that does not exist */
  wantedByCode(code: string): Wanted
  readonly listing: MemoryListing<Stored>
  /** schema of the query, without the parameters that carry a token */
  readonly query: z.ZodType<ListRequest>
}

type Listable = { readonly code: string; readonly name: string; readonly sourceCode: string }
/** A vector without the facts that a scan read from its content, since no list uses them. */
export type ListedVector = Omit<StoredVector, 'facts'>

const sourceCode = ({ sourceCode }: Listable) => sourceCode

/** Both kinds are read in the order of their codes. */
const BY_CODE = {
  searched: { code: ({ code }: Listable) => code, name: ({ name }: Listable) => name },
  sortable: {
    code: ({ code }: Listable) => code,
    name: ({ name }: Listable) => name.toLowerCase(),
    source_code: sourceCode,
  },
  order: 'code',
}

const BASEMAP_LISTING: MemoryListing<StoredBasemap> = {
  ...BY_CODE,
  sortable: {
    ...BY_CODE.sortable,
    default_version: ({ defaultVersion }) => defaultVersion,
    created_at: ({ createdAt }) => createdAt.getTime(),
    updated_at: ({ updatedAt }) => updatedAt.getTime(),
  },
  filters: { source_code: sourceCode, available: ({ defaultVersion }) => defaultVersion !== null },
}

export const READER_BASEMAPS: ReaderList<StoredBasemap> = {
  name: 'basemap',
  wanted: ({ code }) => ({ kind: 'basemap', code }),
  wantedByCode: (code) => ({ kind: 'basemap', code }),
  listing: BASEMAP_LISTING,
  query: listQuery(
    BASEMAP_LISTING,
    { source_code: text, available: flag.describe('true: it has a version to serve') },
    null,
  ),
}

const VECTOR_LISTING: MemoryListing<ListedVector> = {
  ...BY_CODE,
  searched: { ...BY_CODE.searched, 'relative path': ({ relativePath }) => relativePath },
  sortable: {
    ...BY_CODE.sortable,
    kind: ({ kind }) => kind,
    relative_path: ({ relativePath }) => relativePath,
    file_name: ({ fileName }) => fileName,
    size: ({ size }) => size,
    modified_at: ({ modifiedAt }) => modifiedAt.getTime(),
    available: ({ available }) => available,
  },
  filters: { source_code: sourceCode, kind: ({ kind }) => kind, available: ({ available }) => available },
}

export const READER_VECTORS: ReaderList<ListedVector> = {
  name: 'vector',
  wanted: ({ code, relativePath, fileName }) => ({ kind: 'vector', names: [code, relativePath, fileName] }),
  wantedByCode: (code) => ({ kind: 'vector', names: [code] }),
  listing: VECTOR_LISTING,
  query: listQuery(VECTOR_LISTING, { source_code: text, kind: z.enum(VECTOR_KINDS), available: flag }, null),
}

const STYLE_LISTING: MemoryListing<StoredStyle> = {
  ...BY_CODE,
  sortable: {
    ...BY_CODE.sortable,
    revision: ({ revision }) => revision,
    available: ({ available }) => available,
    created_at: ({ createdAt }) => createdAt.getTime(),
    updated_at: ({ updatedAt }) => updatedAt.getTime(),
  },
  filters: { source_code: sourceCode, available: ({ available }) => available },
}

export const READER_STYLES: ReaderList<StoredStyle> = {
  name: 'style',
  wanted: ({ code, dependencies }) => ({ kind: 'style', code, parts: dependencies.sources.map(stylePart) }),
  // Its sources are unknown, so it is absent for everyone who may read.
  wantedByCode: (code) => ({ kind: 'style', code, parts: [] }),
  listing: STYLE_LISTING,
  query: listQuery(STYLE_LISTING, { source_code: text, available: flag }, null),
}

function stylePart({ name, kind, code }: StoredStyleSource): StylePart {
  const wanted = kind === 'basemap' ? ({ kind, code } as const) : ({ kind, names: [code] } as const)
  return { source: name, code, wanted }
}
