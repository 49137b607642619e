import { queryOptions } from '@tanstack/react-query'
import { type Answer, call, type QueryOf, reads } from './client.js'
import { listOf } from './list.js'

export type AuditEntry = Answer<'get', '/api/v1/admin/audit/{id}'>
export type Dashboard = Answer<'get', '/api/v1/admin/dashboard'>

export const dashboardQuery = queryOptions({
  queryKey: ['dashboard'],
  queryFn: reads('/api/v1/admin/dashboard'),
})

export const edgesQuery = queryOptions({
  queryKey: ['edges'],
  queryFn: reads('/api/v1/admin/edges'),
})

/** A copy of `TRAFFIC_RANGES` in the contracts, whose import would add the schema library to the page. */
export const TRAFFIC_RANGES = ['hour', 'day', 'week', 'month'] as const
export type TrafficRange = (typeof TRAFFIC_RANGES)[number]

export function trafficQuery(range: TrafficRange = 'hour') {
  // The page comes with the response for the hour, whose URL has no range.
  const given = range === 'hour' ? {} : { params: { query: { range } } }
  return queryOptions({
    queryKey: ['traffic', range],
    queryFn: reads('/api/v1/admin/dashboard/traffic', given),
  })
}

/** Ranges of one process. Longer ones are not kept. */
export const EDGE_RANGES = ['hour', 'day'] as const
export type EdgeRange = (typeof EDGE_RANGES)[number]

export function edgeTrafficQuery(id: string, range: EdgeRange) {
  return queryOptions({
    queryKey: ['traffic', 'edge', id, range],
    queryFn: reads('/api/v1/admin/edges/{id}/traffic', { params: { path: { id }, query: { range } } }),
  })
}

export function edgeQuery(id: string) {
  return queryOptions({
    queryKey: ['edges', id],
    queryFn: reads('/api/v1/admin/edges/{id}', { params: { path: { id } } }),
  })
}

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

/** The URL of the audit as a file. */
export function auditFile(query: ExportQuery): string {
  return call('get', '/api/v1/admin/audit/export', { params: { query } }).path
}

export const AUDIT = listOf('audit', '/api/v1/admin/audit', {
  actor: true,
  action: true,
  subject: true,
  from: true,
  to: true,
  before: true,
})
