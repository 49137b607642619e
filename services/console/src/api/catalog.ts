import type { AdminBasemap, BasemapPatch, BasemapVersion } from '@gateway/contracts/basemap.js'
import type { Comparison } from '@gateway/contracts/comparison.js'
import type { EdgePresence } from '@gateway/contracts/edge.js'
import type { HealthCheck } from '@gateway/contracts/health.js'
import type { SignedUrl, SignedUrlBody } from '@gateway/contracts/signed-url.js'
import type { Target } from '@gateway/contracts/target.js'
import type { AdminVector } from '@gateway/contracts/vector.js'
import { queryOptions } from '@tanstack/react-query'
import { ApiError, adminGet, type List, LONG_TIMEOUT_MS, segment } from './client.js'
import type { ListSource } from './list.js'
import { useWrite } from './use-write.js'

/** What a scan or an availability check may change. */
export const SCANNED = ['basemaps', 'vectors', 'scan-sources', 'dashboard']

/** Which edge processes have applied a change when it is answered. */
export interface Acknowledged {
  readonly confirmed: readonly EdgePresence[]
  readonly pending: readonly EdgePresence[]
}

export const BASEMAPS: ListSource = { key: 'basemaps', path: '/basemaps' }
/** The versions of all basemaps. */
export const VERSIONS: ListSource = { key: 'basemaps', path: '/versions' }
export const VECTORS: ListSource = { key: 'vectors', path: '/vectors' }

export function basemapQuery(code: string) {
  return queryOptions({
    queryKey: ['basemaps', 'one', code],
    queryFn: ({ signal }) => adminGet<AdminBasemap>(`/basemaps/${segment(code)}`, signal),
  })
}

/** It reads thousands of tiles. Leaving the page ends it. */
export function comparisonQuery(code: string, left: BasemapVersion, right: BasemapVersion) {
  const query = new URLSearchParams({ left: left.version, right: right.version })
  return queryOptions({
    queryKey: ['comparison', code, left.version, left.revision, right.version, right.revision],
    queryFn: ({ signal }) =>
      adminGet<Comparison>(`/basemaps/${segment(code)}/comparison?${query}`, signal, COMPARISON_TIMEOUT_MS),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
}

/** The service gives up after 25 s, and starts a process before. */
const COMPARISON_TIMEOUT_MS = 60_000

export function vectorQuery(code: string) {
  return queryOptions({
    queryKey: ['vectors', 'one', code],
    queryFn: ({ signal }) => adminGet<AdminVector>(`/vectors/${segment(code)}`, signal),
  })
}

export function useSetDefaultVersion(code: string) {
  return useWrite<string>(
    (version) => ({ method: 'POST', path: `/basemaps/${segment(code)}/default-version`, body: { version } }),
    { changes: ['basemaps'] },
  )
}

/** @param path of a basemap, a version or a vector, after `/api/v1/admin` */
export function useWithdraw(path: string) {
  return useWrite<boolean, Acknowledged>((withdrawn) => ({ method: 'PATCH', path, body: { withdrawn } }), {
    changes: ['basemaps', 'vectors'],
  })
}

/**
 * @param code as a segment of an address
 * @param encoding empty: what the files say
 */
export function useSetEncoding(code: string, encoding: string) {
  return useWrite<undefined, Acknowledged>(() => ({ method: 'PATCH', path: `/vectors/${code}`, body: { encoding } }), {
    changes: ['vectors'],
  })
}

/** Who may keep the tiles of a basemap. */
export function useSetCachePolicy(code: string) {
  return useWrite<BasemapPatch, Acknowledged>(
    (body) => ({ method: 'PATCH', path: `/basemaps/${segment(code)}`, body }),
    { changes: ['basemaps'] },
  )
}

/** Makes addresses that let in without a token until they expire. */
export function useSignUrl() {
  return useWrite<SignedUrlBody, SignedUrl>((body) => ({ method: 'POST', path: '/signed-urls', body }), {
    // They live as long as the dialog that shows them.
    gcTime: 0,
  })
}

/** @param path of anything that has a record, after `/api/v1/admin` */
export function useDelete(path: string, onSuccess: () => void) {
  return useWrite<boolean, Acknowledged>((files) => ({ method: 'DELETE', path: files ? `${path}?files=true` : path }), {
    onSuccess,
    removes: true,
    changes: [...SCANNED, 'targets', 'pushes', 'tokens'],
  })
}

export function useHealthCheck() {
  return useWrite<void, HealthCheck>(() => ({ method: 'POST', path: '/health/check', timeoutMs: LONG_TIMEOUT_MS }), {
    changes: SCANNED,
  })
}

/** What a grant can name. */
export interface Grantable {
  readonly code: string
  readonly name: string
  /** what a grant may name it by as well */
  readonly aliases?: readonly string[]
}

/** What a text leads to: some of those that contain it, and the one whose code it is. */
export type FindCodes = (text: string, signal: AbortSignal) => Promise<readonly Grantable[]>

/** Typing narrows it down. */
const FOUND = 50

export function findBasemaps(text: string, signal: AbortSignal): Promise<readonly Grantable[]> {
  return find<AdminBasemap>('/basemaps', text, signal)
}

export async function findVectors(text: string, signal: AbortSignal): Promise<readonly Grantable[]> {
  const found = await find<AdminVector>('/vectors', text, signal)
  return found.map(({ code, name, relative_path: path, file_name: file }) => ({ code, name, aliases: [path, file] }))
}

/** Targets that take pushes. */
export async function findTargets(text: string, signal: AbortSignal): Promise<readonly Grantable[]> {
  const query = new URLSearchParams({ enabled: 'true', limit: String(FOUND), q: text })
  return (await adminGet<List<Target>>(`/targets?${query}`, signal)).items
}

/** Some of what contains the text, and what has it for its code, which may not be among them. */
async function find<T extends Grantable>(path: string, text: string, signal: AbortSignal): Promise<readonly T[]> {
  const { items, total } = await adminGet<List<T>>(`${path}?limit=${FOUND}&q=${encodeURIComponent(text)}`, signal)
  if (text === '' || total <= items.length || items.some(({ code }) => code === text)) return items
  const exact = await adminGet<T>(`${path}/${segment(text)}`, signal).catch(notFoundAsNull)
  return exact === null ? items : [exact, ...items]
}

function notFoundAsNull(error: unknown): null {
  if (error instanceof ApiError && error.status === 404) return null
  throw error
}
