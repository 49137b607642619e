import type { DeliveryAttempt, PurgeRecord, PushRecord, VectorPushRecord } from '@gateway/contracts/push.js'
import type { Target, TargetBody, TargetTrial } from '@gateway/contracts/target.js'
import { queryOptions } from '@tanstack/react-query'
import { adminGet, CREATES_ONLY, segment } from './client.js'
import { type ListSource, listQuery, NOT_SEEN } from './list.js'
import { useWrite } from './use-write.js'

export const PUSH_KINDS = ['basemap', 'vector', 'purge'] as const
export type PushKind = (typeof PUSH_KINDS)[number]
export type AnyPush = PushRecord | VectorPushRecord | PurgeRecord

/** What an address or a filter names; `basemap` where it names nothing that is known. */
export function pushKind(text: string | null | undefined): PushKind {
  return PUSH_KINDS.find((kind) => kind === text) ?? 'basemap'
}

const RECORDS: Record<PushKind, string> = {
  basemap: '/push-records',
  vector: '/vector-push-records',
  purge: '/purge-records',
}

export const TARGETS: ListSource = { key: 'targets', path: '/targets' }

/** Whether there are targets, and the first of those that take pushes. */
export const anyTargetQuery = listQuery<Target>(TARGETS, { limit: 1 })
export const firstTargetQuery = listQuery<Target>(TARGETS, { limit: 1, filters: { enabled: 'true' } })

export function targetQuery(code: string) {
  return queryOptions({
    queryKey: ['targets', 'one', code],
    queryFn: ({ signal }) => adminGet<Target>(`/targets/${segment(code)}`, signal),
  })
}

export const PUSHES: Readonly<Record<PushKind, ListSource>> = {
  basemap: { key: 'pushes', path: RECORDS.basemap },
  vector: { key: 'pushes', path: RECORDS.vector },
  purge: { key: 'pushes', path: RECORDS.purge },
}

export type PushDetails = AnyPush & { readonly attempt_log: readonly DeliveryAttempt[] }

export function pushQuery(of: PushKind, id: string) {
  return queryOptions({
    queryKey: ['pushes', of, id],
    queryFn: ({ signal }) => adminGet<PushDetails>(`${RECORDS[of]}/${segment(id)}`, signal),
  })
}

export function pushedName(record: AnyPush): string {
  if ('vector_code' in record) return record.vector_code
  // A purge may be of the basemap itself.
  return record.version === null ? record.basemap_code : `${record.basemap_code} · ${record.version}`
}

export type NewPush =
  | { readonly target_code: string; readonly basemap_code: string; readonly version: string }
  | { readonly target_code: string; readonly vector_code: string }

export function usePush() {
  return useWrite<NewPush, PushRecord | VectorPushRecord>(
    (push) => ({ method: 'POST', path: 'vector_code' in push ? '/vector-pushes' : '/pushes', body: push }),
    { changes: ['pushes'] },
  )
}

export function useRetryPush(of: PushKind, id: string) {
  return useWrite(() => ({ method: 'POST', path: `${RECORDS[of]}/${segment(id)}/retry` }), { changes: ['pushes'] })
}

/** Gives up a push that is on its way, or says that the failure of one was seen. */
export function useEndPush(of: PushKind, id: string, how: 'cancel' | 'acknowledge') {
  return useWrite(() => ({ method: 'POST', path: `${RECORDS[of]}/${segment(id)}/${how}` }), { changes: ['pushes'] })
}

/** The newest pushes that failed and that nobody has seen. */
export function failedPushesQuery(of: PushKind, limit: number) {
  return listQuery<AnyPush>(PUSHES[of], { limit, filters: NOT_SEEN })
}

/** @param isNew one of this code must not be there yet */
export function useSaveTarget(isNew: boolean) {
  return useWrite<TargetBody, Target>(
    (body) => ({ method: 'POST', path: '/targets', body, ...(isNew && CREATES_ONLY) }),
    {
      changes: ['targets'],
    },
  )
}

export function useTryTarget(code: string) {
  return useWrite<void, TargetTrial>(() => ({ method: 'POST', path: `/targets/${segment(code)}/test` }))
}
