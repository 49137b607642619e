import type { Scan, ScanSource, ScanSourceBody } from '@gateway/contracts/scan-source.js'
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

export function useSaveScanSource() {
  return useWrite((body: ScanSourceBody, signal) => adminSend<ScanSource>('POST', '/scan-sources', body, { signal }), {
    changes: ['scan-sources'],
  })
}

/** A scan takes its time: the callbacks are called even where the page is left meanwhile. */
export function useRunScan(callbacks: {
  readonly onSuccess: (scan: Scan, code: string) => void
  readonly onError: (error: Error, code: string) => void
}) {
  return useWrite(
    (code: string, signal) =>
      adminSend<Scan>('POST', `/scan-sources/${segment(code)}/run`, undefined, { signal, timeoutMs: LONG_TIMEOUT_MS }),
    { ...callbacks, changes: SCANNED },
  )
}
