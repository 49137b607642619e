import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import type { EdgePresence } from '@gateway/contracts/edge.js'
import type { HealthCheck } from '@gateway/contracts/health.js'
import type { AdminVector } from '@gateway/contracts/vector.js'
import { queryOptions } from '@tanstack/react-query'
import { adminGet, adminSend, type List, LONG_TIMEOUT_MS, segment } from './client.js'
import { useWrite } from './use-write.js'

/** What a scan or an availability check may change. */
export const SCANNED = ['basemaps', 'vectors', 'scan-sources', 'dashboard']

/** Which edge processes have applied a change when it is answered. */
export interface Acknowledged {
  readonly confirmed: readonly EdgePresence[]
  readonly pending: readonly EdgePresence[]
}

export const basemapsQuery = queryOptions({
  queryKey: ['basemaps'],
  queryFn: ({ signal }) => everyPage<AdminBasemap>('/basemaps', signal),
})

export const vectorsQuery = queryOptions({
  queryKey: ['vectors'],
  queryFn: ({ signal }) => everyPage<AdminVector>('/vectors', signal),
})

/** The whole of a list, of which one answer carries a part. */
async function everyPage<T>(path: string, signal: AbortSignal): Promise<List<T>> {
  const { items: first, total } = await adminGet<List<T>>(path, signal)
  const items = [...first]
  for (let got = first.length; got > 0 && items.length < total; ) {
    const page = await adminGet<List<T>>(`${path}?offset=${items.length}`, signal)
    got = page.items.length
    items.push(...page.items)
  }
  return { items, total }
}

export function useSetDefaultVersion(code: string) {
  return useWrite(
    (version: string, signal) =>
      adminSend('POST', `/basemaps/${segment(code)}/default-version`, { version }, { signal }),
    { changes: ['basemaps'] },
  )
}

/** @param path of a basemap, a version or a vector, after `/api/v1/admin` */
export function useWithdraw(path: string) {
  return useWrite((withdrawn: boolean, signal) => adminSend<Acknowledged>('PATCH', path, { withdrawn }, { signal }), {
    changes: ['basemaps', 'vectors'],
  })
}

/**
 * @param code as a segment of an address
 * @param encoding empty: what the files say
 */
export function useSetEncoding(code: string, encoding: string) {
  return useWrite(
    (_: undefined, signal) => adminSend<Acknowledged>('PATCH', `/vectors/${code}`, { encoding }, { signal }),
    { changes: ['vectors'] },
  )
}

/** @param path of anything that has a record, after `/api/v1/admin` */
export function useDelete(path: string, onSuccess: () => void) {
  return useWrite(
    (files: boolean, signal) =>
      adminSend<Acknowledged>('DELETE', files ? `${path}?files=true` : path, undefined, { signal }),
    { onSuccess, changes: [...SCANNED, 'targets', 'pushes'] },
  )
}

export function useHealthCheck() {
  return useWrite<void, HealthCheck>(
    (_, signal) => adminSend('POST', '/health/check', undefined, { signal, timeoutMs: LONG_TIMEOUT_MS }),
    { changes: SCANNED },
  )
}
