import { queryOptions } from '@tanstack/react-query'
import { type Answer, call, type QueryOf, reads } from './client.js'
import { listOf } from './list.js'

export type AuditEntry = Answer<'get', '/api/v1/admin/audit/{id}'>
export type Dashboard = Answer<'get', '/api/v1/admin/dashboard'>
export type SystemInfo = Answer<'get', '/api/v1/system'>

export const dashboardQuery = queryOptions({
  queryKey: ['dashboard'],
  queryFn: reads('/api/v1/admin/dashboard'),
})

export const edgesQuery = queryOptions({
  queryKey: ['edges'],
  queryFn: reads('/api/v1/admin/edges'),
})

export const trafficQuery = queryOptions({
  queryKey: ['traffic'],
  queryFn: reads('/api/v1/admin/dashboard/traffic'),
})

export const systemQuery = queryOptions({
  queryKey: ['system'],
  queryFn: reads('/api/v1/system'),
})

export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: reads('/api/v1/admin/settings'),
})

export function auditEntryQuery(id: string) {
  return queryOptions({
    queryKey: ['audit', id],
    queryFn: reads('/api/v1/admin/audit/{id}', { params: { path: { id } } }),
  })
}

type ExportQuery = QueryOf<'/api/v1/admin/audit/export'>

/** The address of the audit as a file. */
export function auditFile(query: ExportQuery): string {
  return call('get', '/api/v1/admin/audit/export', { params: { query } }).path
}

export const AUDIT = listOf('audit', '/api/v1/admin/audit')
