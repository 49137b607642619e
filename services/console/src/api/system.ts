import type { SettingsView } from '@gateway/contracts/console.js'
import type { EdgePresence } from '@gateway/contracts/edge.js'
import type { HealthCheck } from '@gateway/contracts/health.js'
import type { PushRecord, VectorPushRecord } from '@gateway/contracts/push.js'
import type { ScanSource } from '@gateway/contracts/scan-source.js'
import type { TrafficHistory } from '@gateway/contracts/traffic.js'
import { queryOptions } from '@tanstack/react-query'
import { adminGet, getJson, type List, segment } from './client.js'
import type { ListSource } from './list.js'

export interface AuditEntry {
  readonly id: number
  readonly at: string
  readonly actor: string
  readonly address: string
  readonly action: string
  readonly subject: string
  readonly detail: Readonly<Record<string, unknown>>
}

export interface Dashboard {
  readonly ledger: {
    readonly basemaps: number
    readonly versions: number
    readonly versions_unavailable: number
    readonly vectors: number
    readonly vectors_unavailable: number
  }
  readonly tokens: { readonly active: number; readonly expired: number; readonly disabled: number }
  readonly pushes: {
    readonly basemap_records: readonly PushRecord[]
    readonly vector_records: readonly VectorPushRecord[]
  }
  readonly layers: readonly {
    readonly code: string
    readonly version: string
    readonly source_paths: readonly string[]
  }[]
  readonly scan_sources: readonly ScanSource[]
  readonly health: HealthCheck | null
  readonly audit: readonly AuditEntry[]
}

export interface SystemInfo {
  readonly version: string
  readonly api_base_url: string
  readonly tile_base_url: string
  readonly vector_base_url: string
  readonly basemap_roots: readonly string[]
  readonly vector_roots: readonly string[]
  readonly slice_output_root: string
  readonly slice_source_roots: readonly string[]
}

export const dashboardQuery = queryOptions({
  queryKey: ['dashboard'],
  queryFn: ({ signal }) => adminGet<Dashboard>('/dashboard', signal),
})

export const edgesQuery = queryOptions({
  queryKey: ['edges'],
  queryFn: ({ signal }) => adminGet<List<EdgePresence>>('/edges', signal),
})

export const trafficQuery = queryOptions({
  queryKey: ['traffic'],
  queryFn: ({ signal }) => adminGet<TrafficHistory>('/dashboard/traffic', signal),
})

export const systemQuery = queryOptions({
  queryKey: ['system'],
  queryFn: ({ signal }) => getJson<SystemInfo>('/api/v1/system', { signal }),
})

export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: ({ signal }) => adminGet<SettingsView>('/settings', signal),
})

export function auditEntryQuery(id: string) {
  return queryOptions({
    queryKey: ['audit', id],
    queryFn: ({ signal }) => adminGet<AuditEntry>(`/audit/${segment(id)}`, signal),
  })
}

export const AUDIT: ListSource = { key: 'audit', path: '/audit' }
