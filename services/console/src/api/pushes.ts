import type { DeliveryAttempt, PushRecord, VectorPushRecord } from '@gateway/contracts/push.js'
import type { Target, TargetBody, TargetTrial } from '@gateway/contracts/target.js'
import { queryOptions } from '@tanstack/react-query'
import { adminGet, adminSend, type List, segment } from './client.js'
import { type ListSource, listQuery, NOT_SEEN } from './list.js'
import { useWrite } from './use-write.js'

export type PushKind = 'basemap' | 'vector'

const RECORDS: Record<PushKind, string> = { basemap: '/push-records', vector: '/vector-push-records' }

export const targetsQuery = queryOptions({
  queryKey: ['targets'],
  queryFn: ({ signal }) => adminGet<List<Target>>('/targets', signal),
})

export function targetQuery(code: string) {
  return queryOptions({
    queryKey: ['targets', 'one', code],
    queryFn: ({ signal }) => adminGet<Target>(`/targets/${segment(code)}`, signal),
  })
}

export const PUSHES: Readonly<Record<PushKind, ListSource>> = {
  basemap: { key: 'pushes', path: RECORDS.basemap },
  vector: { key: 'pushes', path: RECORDS.vector },
}

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

/** Gives up a push that is on its way, or says that the failure of one was seen. */
export function useEndPush(of: PushKind, id: string, how: 'cancel' | 'acknowledge') {
  return useWrite<void>(
    (_, signal) => adminSend('POST', `${RECORDS[of]}/${segment(id)}/${how}`, undefined, { signal }),
    { changes: ['pushes'] },
  )
}

/** The newest pushes that failed and that nobody has seen. */
export function failedPushesQuery(of: PushKind, limit: number) {
  return listQuery<PushRecord | VectorPushRecord>(PUSHES[of], { limit, filters: NOT_SEEN })
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
