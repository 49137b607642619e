import type { Scan, ScanSource, ScanSourceBody } from '@gateway/contracts/scan-source.js'
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { adminGet, adminPost, type List, segment } from './client.js'
import { FOUND_BY_LOOKING, refresh } from './live.js'

export const scanSourcesQuery = queryOptions({
  queryKey: ['scan-sources'],
  queryFn: ({ signal }) => adminGet<List<ScanSource>>('/scan-sources', signal),
})

/** @param path the code as a segment of a path */
export function scansQuery(path: string) {
  return queryOptions({
    queryKey: ['scan-sources', path, 'scans'],
    queryFn: ({ signal }) => adminGet<List<Scan>>(`/scan-sources/${path}/scans`, signal),
  })
}

export function useSaveScanSource() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: ScanSourceBody) => adminPost<ScanSource>('/scan-sources', body),
    onSuccess: () => queries.invalidateQueries({ queryKey: scanSourcesQuery.queryKey }),
  })
}

/** The outcome is told even where the page that asked is left meanwhile: a scan takes its time. */
export function useRunScan(told: {
  readonly onDone: (code: string, scan: Scan) => void
  readonly onFailed: (code: string, error: Error) => void
}) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (code: string) => adminPost<Scan>(`/scan-sources/${segment(code)}/run`),
    onSuccess: (scan, code) => told.onDone(code, scan),
    onError: (error, code) => told.onFailed(code, error),
    onSettled: () => refresh(queries, FOUND_BY_LOOKING),
  })
}
