import type { Scan, ScanSource, ScanSourceBody, SourceStorage, TriedScan } from '@gateway/contracts/scan-source.js'
import { queryOptions } from '@tanstack/react-query'
import { SCANNED } from './catalog.js'
import { adminGet, CREATES_ONLY, type List, LONG_TIMEOUT_MS, segment } from './client.js'
import type { ListSource } from './list.js'
import { useWrite } from './use-write.js'

export const SCAN_SOURCES: ListSource = { key: 'scan-sources', path: '/scan-sources' }

export function scanSourceQuery(code: string) {
  return queryOptions({
    queryKey: ['scan-sources', 'one', code],
    queryFn: ({ signal }) => adminGet<ScanSource>(`/scan-sources/${segment(code)}`, signal),
  })
}

export function scansQuery(code: string) {
  return queryOptions({
    queryKey: ['scan-sources', code, 'scans'],
    queryFn: ({ signal }) => adminGet<List<Scan>>(`/scan-sources/${segment(code)}/scans`, signal),
  })
}

export function sourceStorageQuery(code: string) {
  return queryOptions({
    queryKey: ['scan-sources', code, 'storage'],
    queryFn: ({ signal }) => adminGet<SourceStorage>(`/scan-sources/${segment(code)}/storage`, signal),
  })
}

/** @param isNew one of this code must not be there yet */
export function useSaveScanSource(isNew: boolean) {
  return useWrite<ScanSourceBody, ScanSource>(
    (body) => ({ method: 'POST', path: '/scan-sources', body, ...(isNew && CREATES_ONLY) }),
    { changes: ['scan-sources'] },
  )
}

export function scanWarningsQuery(code: string, id: string) {
  return queryOptions({
    queryKey: ['scan-sources', code, 'scans', id, 'warnings'],
    queryFn: ({ signal }) =>
      adminGet<List<ScanWarning>>(`/scan-sources/${segment(code)}/scans/${segment(id)}/warnings`, signal),
  })
}

export interface ScanWarning {
  readonly number: number
  readonly message: string
}

/** Queues a scan; its source tells how it goes. */
export function useQueueScan(callbacks: WriteCallbacks) {
  return useWrite<string, ScanSource>((code) => ({ method: 'POST', path: `/scan-sources/${segment(code)}/queue` }), {
    ...callbacks,
    changes: SCANNED,
  })
}

export function useCancelScan(callbacks: WriteCallbacks) {
  return useWrite<string, ScanSource>((code) => ({ method: 'POST', path: `/scan-sources/${segment(code)}/cancel` }), {
    ...callbacks,
    changes: SCANNED,
  })
}

interface WriteCallbacks {
  readonly onError: (error: Error, code: string) => void
}

/** What a scan would come to; writes nothing. */
export function useTryScan() {
  return useWrite<Pick<ScanSourceBody, 'kind' | 'path'> & { readonly code?: string }, TriedScan>((body) => ({
    method: 'POST',
    path: '/scan-sources/try',
    body,
    timeoutMs: LONG_TIMEOUT_MS,
  }))
}
