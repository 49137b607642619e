import type { PurgeRecord, PushRecord, VectorPushRecord } from '@gateway/contracts/push.js'
import { queryOptions } from '@tanstack/react-query'
import { type Answer, type BodyOf, type Call, CREATES_ONLY, call, type QueryOf, reads } from './client.js'
import { type ListSource, listOf, listQuery, NOT_SEEN } from './list.js'
import { useWrite } from './use-write.js'

export const PUSH_KINDS = ['basemap', 'vector', 'purge'] as const
export type PushKind = (typeof PUSH_KINDS)[number]
export type AnyPush = PushRecord | VectorPushRecord | PurgeRecord

/** Parses the kind in a URL or filter; `basemap` for unknown ones. */
export function pushKind(text: string | null | undefined): PushKind {
  return PUSH_KINDS.find((kind) => kind === text) ?? 'basemap'
}

const RECORDS = {
  basemap: '/api/v1/admin/push-records',
  vector: '/api/v1/admin/vector-push-records',
  purge: '/api/v1/admin/purge-records',
} as const
type Records = (typeof RECORDS)[PushKind]

export const TARGETS = listOf('targets', '/api/v1/admin/targets', { kind: true, mode: true, enabled: true })

/** Tells whether there are targets, with the first one that takes pushes. */
export const anyTargetQuery = listQuery(TARGETS, { limit: 1 })
export const firstTargetQuery = listQuery(TARGETS, { limit: 1, enabled: 'true' })

export function targetQuery(code: string) {
  return queryOptions({
    queryKey: ['targets', 'one', code],
    queryFn: reads('/api/v1/admin/targets/{code}', { params: { path: { code } } }),
  })
}

const OF_DELIVERIES = { status: true, acknowledged: true, target_code: true, before: true } as const

export const PUSHES: Readonly<Record<PushKind, ListSource<AnyPush, QueryOf<Records>>>> = {
  basemap: listOf('pushes', RECORDS.basemap, { ...OF_DELIVERIES, basemap_code: true, version: true }),
  vector: listOf('pushes', RECORDS.vector, { ...OF_DELIVERIES, vector_code: true }),
  purge: listOf('pushes', RECORDS.purge, { ...OF_DELIVERIES, basemap_code: true }),
}

export type PushDetails = Answer<'get', `${Records}/{id}`>

export function pushQuery(of: PushKind, id: string) {
  return queryOptions({
    queryKey: ['pushes', of, id],
    queryFn: reads(`${RECORDS[of]}/{id}`, { params: { path: { id } } }),
  })
}

export function pushedName(record: AnyPush): string {
  if ('vector_code' in record) return record.vector_code
  // A purge may concern the basemap itself.
  return record.version === null ? record.basemap_code : `${record.basemap_code} · ${record.version}`
}

export type NewPush = BodyOf<'post', '/api/v1/admin/pushes'> | BodyOf<'post', '/api/v1/admin/vector-pushes'>

export function usePush() {
  return useWrite(
    (body: NewPush): Call<PushRecord | VectorPushRecord> =>
      'vector_code' in body
        ? call('post', '/api/v1/admin/vector-pushes', { body })
        : call('post', '/api/v1/admin/pushes', { body }),
    { changes: ['pushes'] },
  )
}

export function useRetryPush(of: PushKind, id: string) {
  return useWrite(() => call('post', `${RECORDS[of]}/{id}/retry`, { params: { path: { id } } }), {
    changes: ['pushes'],
  })
}

/** Kinds with a bulk retry. */
export type BulkPushKind = Exclude<PushKind, 'purge'>

export function useRetryPushes(of: BulkPushKind, ids: readonly string[]) {
  return useWrite(() => call('post', `${RECORDS[of]}/bulk`, { body: { action: 'retry', ids: [...ids] } }), {
    changes: ['pushes'],
  })
}

/** Cancels a pending push, or acknowledges its failure. */
export function useEndPush(of: PushKind, id: string, how: 'cancel' | 'acknowledge') {
  return useWrite(() => call('post', `${RECORDS[of]}/{id}/${how}`, { params: { path: { id } } }), {
    changes: ['pushes'],
  })
}

/** The newest failed pushes that nobody has acknowledged. */
export function failedPushesQuery(of: PushKind, limit: number) {
  return listQuery(PUSHES[of], { limit, ...NOT_SEEN })
}

type TargetBody = BodyOf<'post', '/api/v1/admin/targets'>

/** @param isNew true if the code must not exist yet */
export function useSaveTarget(isNew: boolean) {
  return useWrite((body: TargetBody) => call('post', '/api/v1/admin/targets', { body, ...(isNew && CREATES_ONLY) }), {
    changes: ['targets'],
  })
}

export function useTryTarget(code: string) {
  return useWrite(() => call('post', '/api/v1/admin/targets/{code}/test', { params: { path: { code } } }))
}

export function deleteTarget(code: string) {
  return call('delete', '/api/v1/admin/targets/{code}', { params: { path: { code } } })
}
