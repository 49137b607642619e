import type { DeliveryAttempt, PushRecord, VectorPushRecord } from '@gateway/contracts/push.js'
import type { Target, TargetBody, TargetTrial } from '@gateway/contracts/target.js'
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { adminGet, adminPost, type List, segment } from './client.js'

/** A push of either kind, under one roof. */
export type AnyPush = (PushRecord | VectorPushRecord) & { readonly of: PushKind }
export type PushKind = 'basemap' | 'vector'

const RECORDS: Record<PushKind, string> = { basemap: '/push-records', vector: '/vector-push-records' }
const LISTED_RECORDS = 100

export const targetsQuery = queryOptions({
  queryKey: ['targets'],
  queryFn: ({ signal }) => adminGet<List<Target>>('/targets', signal),
})

/** The newest of both kinds, newest first; `total` counts all. */
export const pushesQuery = queryOptions({
  queryKey: ['pushes', 'records'],
  queryFn: async ({ signal }): Promise<List<AnyPush>> => {
    const [basemaps, vectors] = await Promise.all([
      adminGet<List<PushRecord>>(`${RECORDS.basemap}?limit=${LISTED_RECORDS}`, signal),
      adminGet<List<VectorPushRecord>>(`${RECORDS.vector}?limit=${LISTED_RECORDS}`, signal),
    ])
    const items: AnyPush[] = [
      ...basemaps.items.map((record) => ({ ...record, of: 'basemap' as const })),
      ...vectors.items.map((record) => ({ ...record, of: 'vector' as const })),
    ]
    items.sort((a, b) => b.created_at.localeCompare(a.created_at))
    return { items, total: basemaps.total + vectors.total }
  },
})

export function pushQuery(of: PushKind, id: string) {
  return queryOptions({
    queryKey: ['pushes', of, id],
    queryFn: ({ signal }) =>
      adminGet<(PushRecord | VectorPushRecord) & { attempt_log: readonly DeliveryAttempt[] }>(
        `${RECORDS[of]}/${segment(id)}`,
        signal,
      ),
  })
}

export function pushedName(record: PushRecord | VectorPushRecord): string {
  return 'vector_code' in record ? record.vector_code : `${record.basemap_code} · ${record.version}`
}

export type NewPush =
  | { readonly target_code: string; readonly basemap_code: string; readonly version: string }
  | { readonly target_code: string; readonly vector_code: string }

export function usePush() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (push: NewPush) =>
      adminPost<PushRecord | VectorPushRecord>('vector_code' in push ? '/vector-pushes' : '/pushes', push),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['pushes'] }),
  })
}

export function useRetryPush() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ of, id }: { of: PushKind; id: string }) => adminPost(`${RECORDS[of]}/${segment(id)}/retry`),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['pushes'] }),
  })
}

export function useSaveTarget() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: TargetBody) => adminPost<Target>('/targets', body),
    onSuccess: () => queries.invalidateQueries({ queryKey: targetsQuery.queryKey }),
  })
}

export function useTryTarget() {
  return useMutation({ mutationFn: (code: string) => adminPost<TargetTrial>(`/targets/${segment(code)}/test`) })
}
