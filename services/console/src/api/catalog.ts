import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import type { HealthCheck } from '@gateway/contracts/health.js'
import type { AdminVector } from '@gateway/contracts/vector.js'
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { adminGet, adminPost, type List, segment } from './client.js'
import { FOUND_BY_LOOKING, refresh } from './live.js'

export const basemapsQuery = queryOptions({
  queryKey: ['basemaps'],
  queryFn: ({ signal }) => adminGet<List<AdminBasemap>>('/basemaps', signal),
})

export const vectorsQuery = queryOptions({
  queryKey: ['vectors'],
  queryFn: ({ signal }) => adminGet<List<AdminVector>>('/vectors', signal),
})

export function useSetDefaultVersion(code: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (version: string) => adminPost(`/basemaps/${segment(code)}/default-version`, { version }),
    onSuccess: () => queries.invalidateQueries({ queryKey: basemapsQuery.queryKey }),
  })
}

export function useHealthCheck() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: () => adminPost<HealthCheck>('/health/check'),
    onSuccess: () => refresh(queries, FOUND_BY_LOOKING),
  })
}
