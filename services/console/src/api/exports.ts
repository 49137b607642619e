import { type BodyOf, call } from './client.js'
import { listOf, listQuery } from './list.js'
import { useWrite } from './use-write.js'

export const EXPORTS = listOf('exports', '/api/v1/admin/exports', {
  status: true,
  basemap_code: true,
  version: true,
  target_code: true,
})

/** The newest failed exports that nobody has removed. */
export const failedExportsQuery = listQuery(EXPORTS, { limit: 1, status: 'failed' })
/** The page with exactly those exports. */
export const FAILED_EXPORTS = '/pushes?show=exports&status=failed'

/** On the console's own origin, to which a session belongs. */
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
