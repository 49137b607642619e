import type { Scan, ScanSource, ScanSourceBody, SourceStorage, TriedScan } from '@gateway/contracts/scan-source.js'
import { queryOptions } from '@tanstack/react-query'
import { SCANNED } from './catalog.js'
import { adminGet, adminSend, type List, LONG_TIMEOUT_MS, segment } from './client.js'
import { useWrite } from './use-write.js'

export const scanSourcesQuery = queryOptions({
  queryKey: ['scan-sources'],
  queryFn: ({ signal }) => adminGet<List<ScanSource>>('/scan-sources', signal),
})

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

export function useSaveScanSource() {
  return useWrite((body: ScanSourceBody, signal) => adminSend<ScanSource>('POST', '/scan-sources', body, { signal }), {
    changes: ['scan-sources'],
  })
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
  return useWrite(
    (code: string, signal) =>
      adminSend<ScanSource>('POST', `/scan-sources/${segment(code)}/queue`, undefined, { signal }),
    { ...callbacks, changes: SCANNED },
  )
}

export function useCancelScan(callbacks: WriteCallbacks) {
  return useWrite(
    (code: string, signal) =>
      adminSend<ScanSource>('POST', `/scan-sources/${segment(code)}/cancel`, undefined, { signal }),
    { ...callbacks, changes: SCANNED },
  )
}

interface WriteCallbacks {
  readonly onError: (error: Error, code: string) => void
}

/** What a scan would come to; writes nothing. */
export function useTryScan() {
  return useWrite((body: Pick<ScanSourceBody, 'kind' | 'path'> & { readonly code?: string }, signal) =>
    adminSend<TriedScan>('POST', '/scan-sources/try', body, { signal, timeoutMs: LONG_TIMEOUT_MS }),
  )
}
