import { queryOptions } from '@tanstack/react-query'
import { type BodyOf, call, send } from './client.js'
import { listOf } from './list.js'
import { useWrite } from './use-write.js'

export type SeedBody = BodyOf<'post', '/api/v1/admin/seeds'>

export const SEEDS = listOf('seeds', '/api/v1/admin/seeds', { status: true, cancelled: true, basemap_code: true })

export function seedEstimateQuery(body: SeedBody) {
  return queryOptions({
    queryKey: ['seed-estimate', body],
    queryFn: ({ signal }) => send(call('post', '/api/v1/admin/seeds/estimate', { body }), signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
}

export function useSeed() {
  return useWrite((body: SeedBody) => call('post', '/api/v1/admin/seeds', { body }), { changes: ['seeds'] })
}

export function useCancelSeed(id: string) {
  return useWrite(() => call('post', '/api/v1/admin/seeds/{id}/cancel', { params: { path: { id } } }), {
    changes: ['seeds'],
  })
}
