import { queryOptions } from '@tanstack/react-query'
import { SCANNED } from './catalog.js'
import { type Answer, type BodyOf, CREATES_ONLY, call, LONG_TIMEOUT_MS, reads } from './client.js'
import { listOf } from './list.js'
import { useWrite } from './use-write.js'

export const SCAN_SOURCES = listOf('scan-sources', '/api/v1/admin/scan-sources', {
  kind: true,
  enabled: true,
  status: true,
})

export function scanSourceQuery(code: string) {
  return queryOptions({
    queryKey: ['scan-sources', 'one', code],
    queryFn: reads('/api/v1/admin/scan-sources/{code}', { params: { path: { code } } }),
  })
}

export function scansQuery(code: string) {
  return queryOptions({
    queryKey: ['scan-sources', code, 'scans'],
    queryFn: reads('/api/v1/admin/scan-sources/{code}/scans', { params: { path: { code } } }),
  })
}

export function sourceStorageQuery(code: string) {
  return queryOptions({
    queryKey: ['scan-sources', code, 'storage'],
    queryFn: reads('/api/v1/admin/scan-sources/{code}/storage', { params: { path: { code } } }),
  })
}

type SourceBody = BodyOf<'post', '/api/v1/admin/scan-sources'>

/** @param isNew true if the code must not exist yet */
export function useSaveScanSource(isNew: boolean) {
  return useWrite(
    (body: SourceBody) => call('post', '/api/v1/admin/scan-sources', { body, ...(isNew && CREATES_ONLY) }),
    { changes: ['scan-sources'] },
  )
}

export function scanWarningsQuery(code: string, id: string) {
  return queryOptions({
    queryKey: ['scan-sources', code, 'scans', id, 'warnings'],
    queryFn: reads('/api/v1/admin/scan-sources/{code}/scans/{id}/warnings', { params: { path: { code, id } } }),
  })
}

export type ScanWarning = Answer<'get', '/api/v1/admin/scan-sources/{code}/scans/{id}/warnings'>['items'][number]

/** Queues a scan. Its source shows the progress. */
export function useQueueScan(callbacks: WriteCallbacks) {
  return useWrite(
    (code: string) => call('post', '/api/v1/admin/scan-sources/{code}/queue', { params: { path: { code } } }),
    { ...callbacks, changes: SCANNED },
  )
}

export function useCancelScan(callbacks: WriteCallbacks) {
  return useWrite(
    (code: string) => call('post', '/api/v1/admin/scan-sources/{code}/cancel', { params: { path: { code } } }),
    { ...callbacks, changes: SCANNED },
  )
}

interface WriteCallbacks {
  readonly onError: (error: Error, code: string) => void
}

/** Returns the expected result of a scan, without writing anything. */
export function useTryScan() {
  return useWrite((body: BodyOf<'post', '/api/v1/admin/scan-sources/try'>) =>
    call('post', '/api/v1/admin/scan-sources/try', { body, timeoutMs: LONG_TIMEOUT_MS }),
  )
}

export function deleteScanSource(code: string) {
  return call('delete', '/api/v1/admin/scan-sources/{code}', { params: { path: { code } } })
}
