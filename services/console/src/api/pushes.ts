import type { DeliveryAttempt, PushRecord, VectorPushRecord } from '@gateway/contracts/push.js'
import type { Target, TargetBody, TargetTrial } from '@gateway/contracts/target.js'
import { queryOptions } from '@tanstack/react-query'
import { adminGet, adminSend, type List, segment } from './client.js'
import { useWrite } from './use-write.js'

/** A push of either kind. */
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

export type PushDetails = (PushRecord | VectorPushRecord) & { readonly attempt_log: readonly DeliveryAttempt[] }

export function pushQuery(of: PushKind, id: string) {
  return queryOptions({
    queryKey: ['pushes', of, id],
    queryFn: ({ signal }) => adminGet<PushDetails>(`${RECORDS[of]}/${segment(id)}`, signal),
  })
}

export function pushedName(record: PushRecord | VectorPushRecord): string {
  return 'vector_code' in record ? record.vector_code : `${record.basemap_code} · ${record.version}`
}

export type NewPush =
  | { readonly target_code: string; readonly basemap_code: string; readonly version: string }
  | { readonly target_code: string; readonly vector_code: string }

export function usePush() {
  return useWrite(
    (push: NewPush, signal) =>
      adminSend<PushRecord | VectorPushRecord>('POST', 'vector_code' in push ? '/vector-pushes' : '/pushes', push, {
        signal,
      }),
    { changes: ['pushes'] },
  )
}

export function useRetryPush(of: PushKind, id: string) {
  return useWrite<void>(
    (_, signal) => adminSend('POST', `${RECORDS[of]}/${segment(id)}/retry`, undefined, { signal }),
    {
      changes: ['pushes'],
    },
  )
}

export function useSaveTarget() {
  return useWrite((body: TargetBody, signal) => adminSend<Target>('POST', '/targets', body, { signal }), {
    changes: ['targets'],
  })
}

export function useTryTarget(code: string) {
  return useWrite<void, TargetTrial>((_, signal) =>
    adminSend('POST', `/targets/${segment(code)}/test`, undefined, { signal }),
  )
}
