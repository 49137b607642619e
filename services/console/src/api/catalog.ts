import type { BasemapVersion } from '@gateway/contracts/basemap.js'
import { queryOptions } from '@tanstack/react-query'
import {
  type Answer,
  ApiError,
  type BodyOf,
  type Call,
  call,
  type List,
  LONG_TIMEOUT_MS,
  type QueryOf,
  reads,
} from './client.js'
import { listOf } from './list.js'
import { useWrite } from './use-write.js'

/** Queries that a scan or an availability check may change. */
export const SCANNED = ['basemaps', 'vectors', 'styles', 'scan-sources', 'dashboard']

export const BASEMAPS = listOf('basemaps', '/api/v1/admin/basemaps', {
  source_code: true,
  available: true,
  withdrawn: true,
  source_enabled: true,
  owner: true,
  tag: true,
})
/** The versions of all basemaps. */
export const VERSIONS = listOf('basemaps', '/api/v1/admin/versions', {
  basemap_code: true,
  source_code: true,
  storage: true,
  format: true,
  available: true,
  withdrawn: true,
  held: true,
  source_enabled: true,
  scan: true,
})
export function versionsOf(code: string) {
  type Query = QueryOf<'/api/v1/admin/basemaps/{code}/versions'>
  const read = (query: Query) =>
    call('get', '/api/v1/admin/basemaps/{code}/versions', { params: { path: { code }, query } })
  return { key: 'basemaps', filters: [], read }
}

export const VECTORS = listOf('vectors', '/api/v1/admin/vectors', {
  kind: true,
  tiles_status: true,
  source_code: true,
  available: true,
  withdrawn: true,
  source_enabled: true,
  scan: true,
})

export function basemapQuery(code: string) {
  return queryOptions({
    queryKey: ['basemaps', 'one', code],
    queryFn: reads('/api/v1/admin/basemaps/{code}', { params: { path: { code } } }),
  })
}

/** The comparison reads thousands of tiles. Leaving the page aborts it. */
export function comparisonQuery(code: string, left: BasemapVersion, right: BasemapVersion) {
  const query = { left: left.version, right: right.version }
  return queryOptions({
    queryKey: ['comparison', code, left.version, left.revision, right.version, right.revision],
    queryFn: reads('/api/v1/admin/basemaps/{code}/comparison', {
      params: { path: { code }, query },
      timeoutMs: COMPARISON_TIMEOUT_MS,
    }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
}

/** The service gives up after 25 s, and must start a process before. */
const COMPARISON_TIMEOUT_MS = 60_000

export function vectorQuery(code: string) {
  return queryOptions({
    queryKey: ['vectors', 'one', code],
    queryFn: reads('/api/v1/admin/vectors/{code}', { params: { path: { code } } }),
  })
}

export type DefaultBody = BodyOf<'post', '/api/v1/admin/basemaps/{code}/default-version'>

export function useSetDefaultVersion(code: string) {
  return useWrite(
    (body: DefaultBody) =>
      call('post', '/api/v1/admin/basemaps/{code}/default-version', { params: { path: { code } }, body }),
    { changes: ['basemaps', 'default-history'] },
  )
}

export type DefaultSwitch = Answer<'get', '/api/v1/admin/basemaps/{code}/default-history'>['switches'][number]

export function defaultHistoryQuery(code: string) {
  return queryOptions({
    queryKey: ['default-history', code],
    queryFn: reads('/api/v1/admin/basemaps/{code}/default-history', { params: { path: { code } } }),
  })
}

export function useCancelSwitch(code: string) {
  return useWrite(
    () => call('delete', '/api/v1/admin/basemaps/{code}/default-switch', { params: { path: { code } } }),
    { changes: ['basemaps', 'default-history'] },
  )
}

/** Publishes a held version, or rejects it; `reason` counts only for the latter. */
export function useReviewVersion(code: string, version: string, decision: 'approve' | 'reject') {
  const params = { path: { code, version } }
  return useWrite<string, unknown>(
    (reason: string) =>
      decision === 'approve'
        ? call('post', '/api/v1/admin/basemaps/{code}/versions/{version}/approve', { params })
        : call('post', '/api/v1/admin/basemaps/{code}/versions/{version}/reject', { params, body: { reason } }),
    { changes: ['basemaps'] },
  )
}

type VectorPatch = BodyOf<'patch', '/api/v1/admin/vectors/{code}'>

export function updateVector(code: string, body: VectorPatch) {
  return call('patch', '/api/v1/admin/vectors/{code}', { params: { path: { code } }, body })
}

export type BasemapPatch = BodyOf<'patch', '/api/v1/admin/basemaps/{code}'>

export function updateBasemap(code: string, body: BasemapPatch) {
  return call('patch', '/api/v1/admin/basemaps/{code}', { params: { path: { code } }, body })
}

/** A version of a basemap. */
interface VersionPlace {
  readonly code: string
  readonly version: string
}

export type VersionPatch = BodyOf<'patch', '/api/v1/admin/basemaps/{code}/versions/{version}'>

export function updateVersion(path: VersionPlace, body: VersionPatch) {
  return call('patch', '/api/v1/admin/basemaps/{code}/versions/{version}', { params: { path }, body })
}

/** Sets values of a version in place of the scan's. */
export function useOverride(path: VersionPlace, then: { onError: (error: Error) => void }) {
  return useWrite((body: VersionPatch) => updateVersion(path, body), { changes: ['basemaps', 'tilejson'], ...then })
}

/** Withdraws a basemap, a version, a vector or a style, or restores it. */
export type Withdrawal = (
  withdrawn: boolean,
) => Call<{ readonly confirmed: readonly object[]; readonly pending: readonly object[] }>

export function useWithdraw(withdrawal: Withdrawal) {
  return useWrite(withdrawal, { changes: ['basemaps', 'vectors', 'styles'] })
}

/** @param encoding empty: the encoding that the files state */
export function useSetEncoding(code: string, encoding: VectorPatch['encoding']) {
  return useWrite(() => updateVector(code, { encoding }), { changes: ['vectors'] })
}

/** Sets the name, owner, tags, description and cache policy of a basemap. */
export function useUpdateBasemap(code: string) {
  return useWrite((body: BasemapPatch) => updateBasemap(code, body), { changes: ['basemaps'] })
}

/** Creates URLs that need no token until they expire. */
export function useSignUrl() {
  type Body = BodyOf<'post', '/api/v1/admin/signed-urls'>
  return useWrite((body: Body) => call('post', '/api/v1/admin/signed-urls', { body }), {
    // The URLs are dropped with the dialog that shows them.
    gcTime: 0,
  })
}

export function deleteBasemap(code: string, files: boolean) {
  return call('delete', '/api/v1/admin/basemaps/{code}', { params: { path: { code }, ...filesToo(files) } })
}

export function deleteVersion(path: VersionPlace, files: boolean) {
  return call('delete', '/api/v1/admin/basemaps/{code}/versions/{version}', { params: { path, ...filesToo(files) } })
}

function filesToo(files: boolean) {
  return files ? ({ query: { files: 'true' } } as const) : {}
}

export function deleteVector(code: string) {
  return call('delete', '/api/v1/admin/vectors/{code}', { params: { path: { code } } })
}

/** @param deletion deletes a record, and its files if `files` is true */
export function useDelete(deletion: (files: boolean) => Call, onSuccess: () => void) {
  return useWrite(deletion, {
    onSuccess,
    removes: true,
    changes: [...SCANNED, 'targets', 'pushes', 'tokens'],
  })
}

export function useHealthCheck() {
  return useWrite(() => call('post', '/api/v1/admin/health/check', { timeoutMs: LONG_TIMEOUT_MS }), {
    changes: SCANNED,
  })
}

/** A resource that a grant can name. */
export interface Grantable {
  readonly code: string
  readonly name: string
  /** further names that a grant may use for it */
  readonly aliases?: readonly string[]
}

/** Finds some of the codes that contain a text, and the one that equals it. */
export type FindCodes = (text: string, signal: AbortSignal) => Promise<readonly Grantable[]>

/** Maximum number of results; more typing narrows them down. */
const FOUND = 50

export function findBasemaps(text: string, signal: AbortSignal): Promise<readonly Grantable[]> {
  const found = reads('/api/v1/admin/basemaps', { params: { query: { limit: FOUND, q: text } } })
  const exact = reads('/api/v1/admin/basemaps/{code}', { params: { path: { code: text } } })
  return withExact(text, found({ signal }), () => exact({ signal }))
}

export async function findVectors(text: string, signal: AbortSignal): Promise<readonly Grantable[]> {
  const some = reads('/api/v1/admin/vectors', { params: { query: { limit: FOUND, q: text } } })
  const exact = reads('/api/v1/admin/vectors/{code}', { params: { path: { code: text } } })
  const found = await withExact(text, some({ signal }), () => exact({ signal }))
  return found.map(({ code, name, relative_path: path, file_name: file }) => ({ code, name, aliases: [path, file] }))
}

/** Finds targets that take pushes. */
export async function findTargets(text: string, signal: AbortSignal): Promise<readonly Grantable[]> {
  const query = { enabled: 'true', limit: FOUND, q: text } as const
  return (await reads('/api/v1/admin/targets', { params: { query } })({ signal })).items
}

/** Adds the item whose code equals the text to some of those that contain it. */
async function withExact<T extends Grantable>(
  text: string,
  found: Promise<List<T>>,
  exact: () => Promise<T>,
): Promise<readonly T[]> {
  const { items, total } = await found
  if (text === '' || total <= items.length || items.some(({ code }) => code === text)) return items
  const one = await exact().catch(notFoundAsNull)
  return one === null ? items : [one, ...items]
}

function notFoundAsNull(error: unknown): null {
  if (error instanceof ApiError && error.status === 404) return null
  throw error
}
