import type { Bounds } from '@gateway/contracts/basemap.js'
import type { AdminVector } from '@gateway/contracts/vector.js'
import type { Feature, FeatureCollection } from 'geojson'
import { ApiError, request, segment } from './client.js'
import { TOKEN_HEADER } from './preview.js'

/** Features of a page of the table. */
export const FEATURES_PAGE = 25
/** Limit: features that a map without vector tiles draws. */
export const MAX_DRAWN = 2_000
/** Limit: attributes of one page of features; a file may have thousands. */
export const MAX_COLUMNS = 40

/** The service makes the index of a file on the first request for it, and returns 503 if that takes long. */
const MAX_WAITS = 4
const WAIT_MS = 3_000

export type AttributeType = 'string' | 'number' | 'boolean' | 'date' | 'datetime' | 'other'

export interface Attribute {
  readonly name: string
  readonly type: AttributeType
}

interface Queryables {
  readonly properties: Readonly<
    Record<string, { readonly type?: string; readonly format?: string; readonly 'x-ogc-role'?: string }>
  >
}

/** The selection of features, without the page. */
export interface Selected {
  /** CQL2 text; empty: all */
  readonly filter: string
  /** of the service: `name`, or `-name`; null: as in the file */
  readonly sort: string | null
  /** null: everywhere */
  readonly bbox: Bounds | null
}

export interface FeaturesPage {
  readonly features: readonly Feature[]
  /** null: it would have to be counted */
  readonly matched: number | null
  /** opens the next page; null: this is the last one */
  readonly next: string | null
}

const retry = {
  retry: (failures: number, error: Error) => error instanceof ApiError && error.mayPass && failures < MAX_WAITS,
  retryDelay: WAIT_MS,
}

function read<T>(path: string, token: string, signal: AbortSignal): Promise<T> {
  return request(path, {}, { signal, headers: { [TOKEN_HEADER]: token } }, (response) => response.json() as Promise<T>)
}

function collection({ code }: AdminVector): string {
  return `/ogc/collections/${segment(code)}`
}

/** The attributes by which features can be filtered and sorted. `token` undefined: it is on its way. */
export function attributesQuery(vector: AdminVector, token: string | undefined) {
  return {
    queryKey: ['features', vector.code, vector.revision, 'queryables'],
    queryFn: async ({ signal }: { signal: AbortSignal }): Promise<readonly Attribute[]> => {
      const { properties } = await read<Queryables>(`${collection(vector)}/queryables`, token as string, signal)
      return Object.entries(properties)
        .filter(([, { 'x-ogc-role': role, format }]) => role === undefined && !format?.startsWith('geometry'))
        .map(([name, { type, format }]) => ({ name, type: typeOf(type, format) }))
    },
    enabled: token !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    ...retry,
  }
}

function typeOf(type: string | undefined, format: string | undefined): AttributeType {
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'boolean') return type
  if (type !== 'string') return 'other'
  return format === 'date' ? 'date' : format === 'date-time' ? 'datetime' : type
}

interface PageQuery extends Selected {
  readonly attributes: readonly Attribute[]
  /** of the page before; null: the first page */
  readonly cursor: string | null
  readonly limit: number
}

/** A page of features. */
export function featuresQuery(vector: AdminVector, token: string | undefined, wanted: PageQuery) {
  const { filter, sort, bbox, attributes, cursor, limit } = wanted
  const properties = attributes.slice(0, MAX_COLUMNS).map(({ name }) => name)
  const query = new URLSearchParams({
    limit: String(limit),
    ...(filter !== '' && { filter }),
    ...(sort !== null && { sortby: sort }),
    ...(bbox !== null && { bbox: bbox.join(',') }),
    // A name with a comma cannot be listed.
    ...(attributes.length > MAX_COLUMNS && { properties: properties.filter((name) => !name.includes(',')).join(',') }),
    ...(cursor !== null && { cursor }),
  })
  return {
    queryKey: ['features', vector.code, vector.revision, String(query)],
    queryFn: async ({ signal }: { signal: AbortSignal }): Promise<FeaturesPage> => {
      const path = `${collection(vector)}/items?${query}`
      const found = await read<FeatureCollection & Paged>(path, token as string, signal)
      const next = found.links.find(({ rel }) => rel === 'next')
      return {
        features: found.features,
        matched: found.numberMatched ?? null,
        next: next === undefined ? null : new URL(next.href).searchParams.get('cursor'),
      }
    },
    enabled: token !== undefined,
    ...retry,
  }
}

interface Paged {
  readonly numberMatched?: number
  readonly links: readonly { readonly rel: string; readonly href: string }[]
}
