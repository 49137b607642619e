import { type BodyOf, call } from './client.js'
import { listOf, listQuery } from './list.js'
import { useWrite } from './use-write.js'

/** No event tells of their progress. */
export const EXPORTS = { ...listOf('exports', '/api/v1/admin/exports'), refetchInterval: 3_000 }

/** Those that failed and that nobody has removed since; the newest of them. */
export const failedExportsQuery = listQuery({ ...EXPORTS, refetchInterval: 30_000 }, { limit: 1, status: 'failed' })
/** The page of exactly those. */
export const FAILED_EXPORTS = '/pushes?show=exports&status=failed'

/** After the console's own origin, which a session belongs to. */
export function exportFile(id: string): string {
  return call('get', '/api/v1/admin/exports/{id}/file', { params: { path: { id } } }).path
}

export function useExport() {
  type Body = BodyOf<'post', '/api/v1/admin/exports'>
  return useWrite((body: Body) => call('post', '/api/v1/admin/exports', { body }), { changes: ['exports'] })
}

export function useRemoveExport(id: string) {
  return useWrite(() => call('delete', '/api/v1/admin/exports/{id}', { params: { path: { id } } }), {
    changes: ['exports'],
  })
}
