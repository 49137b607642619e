import type { z } from 'zod'
import type * as basemap from './basemap.js'
import type { comparisonSchema } from './comparison.js'
import type * as console from './console.js'
import type * as edge from './edge.js'
import type * as exported from './export.js'
import type { healthCheckSchema, systemSchema } from './health.js'
import type { notificationRuleBodySchema, notificationRuleSchema } from './notification.js'
import type { sessionSchema } from './operator.js'
import type * as push from './push.js'
import type * as scan from './scan-source.js'
import type * as seed from './seed.js'
import type * as signed from './signed-url.js'
import type * as slice from './slice.js'
import type * as style from './style.js'
import type * as target from './target.js'
import type { planLineSchema } from './tiling/protocol.js'
import type * as token from './token.js'
import type * as traffic from './traffic.js'
import type * as upload from './upload.js'
import type * as usage from './usage.js'
import type * as vector from './vector.js'
import type { Warning } from './warning.js'
import type { NotificationKind } from './without-schemas.js'

type In<S extends z.ZodType> = z.input<S>
type Out<S extends z.ZodType> = z.output<S>
type Flag = 'true' | 'false'
/** Parameters that may be left out. */
type Optional<Shape> = { [Name in keyof Shape]?: Shape[Name] | undefined }
type ListQuery<Filters> = Optional<{ q: string; sort: string; limit: number; offset: number }> & Optional<Filters>
interface Listed<Item, Filters = Record<never, never>> {
  query?: ListQuery<Filters>
  answer: { items: Item[]; total: number }
}
interface Answered<Answer> {
  answer: Answer
}
interface Asked<Body, Answer> {
  body: Body
  answer: Answer
}
/** One action on many items. */
type Bulk<Action extends string, Filters, Answer = Record<never, never>, Params = Record<never, never>> = Asked<
  Params & { action: Action; ids?: string[] | undefined; filter?: Optional<Filters & { q: string }> | undefined },
  Out<typeof edge.bulkResultSchema> & Answer
>

type Acknowledged = Pick<edge.DisabledToken, 'confirmed' | 'pending'>
type Forgotten = Acknowledged & { files: number }
type Version = Out<typeof basemap.adminBasemapVersionSchema>
type AdminStyle = Out<typeof style.adminStyleSchema>
type Switch = Out<typeof basemap.defaultSwitchSchema>
type Upload = Out<typeof upload.uploadSchema>

interface OfScans {
  source_code: string
  available: Flag
  withdrawn: Flag
  source_enabled: Flag
}
interface OfTiles {
  storage: basemap.Storage
  format: basemap.TileFormat
  available: Flag
  withdrawn: Flag
  held: Flag
}
type BasemapFilters = OfScans & { owner: string; tag: string }
type VectorFilters = OfScans & {
  kind: vector.VectorKind
  tiles_status: (typeof vector.VECTOR_TILE_STATUSES)[number]
  scan: string
}
interface TokenFilters {
  kind: token.TokenKind
  status: 'active' | 'expired' | 'disabled'
  scope: token.Scope
  basemap_code: string
  vector_code: string
  layer_code: string
  expires_after: string
  expires_within: string
}
interface JobFilters {
  status: slice.SliceStatus
  cancelled: Flag
  acknowledged: Flag
  target_code: string
  requested_by: string
}
interface AuditFilters {
  actor: string
  action: string
  subject: string
  from: string
  to: string
}
interface DeliveryFilters {
  status: push.DeliveryStatus
  acknowledged: Flag
}
type PushFilters = DeliveryFilters & { target_code: string; basemap_code: string; version: string }
type VectorPushFilters = DeliveryFilters & { target_code: string; vector_code: string }
type Records<Item, Filters> = Listed<Item, Filters & { before: string }>
type RecordDetails<Item> = Answered<Item & { attempt_log: push.DeliveryAttempt[] }>

/** The body of a submission, which the control plane checks. */
interface SliceBody {
  target_code: string
  source_paths?: string[] | undefined
  source_path?: string | undefined
  code?: string | undefined
  name?: string | undefined
  zoom_min?: number | undefined
  zoom_max?: number | 'native' | undefined
  tile_size?: 256 | 512 | undefined
  tile_format?: string | undefined
  tile_matrix_set?: basemap.KnownTileMatrixSetId | undefined
  encoding?: slice.SliceEncoding | undefined
  resampling?: slice.SliceResampling | undefined
  output?: slice.SliceOutput | undefined
  callback_url?: string | undefined
  requested_by?: string | undefined
}

/** The members of a TileJSON document that the console reads. */
export interface TileJson {
  attribution?: string
  tiles: string[]
  minzoom: number
  maxzoom: number
  bounds: number[]
  vector_layers?: { id: string; fields: Record<string, string> }[]
}

/** The changes of one delivery. */
interface RecordChange<Item> {
  post: Answered<Item>
}

/**
 * The routes that the console calls, with the types of the schemas by which the control plane checks and documents them.
 * `test/e2e/openapi.test.ts` compares every entry with the OpenAPI document.
 */
export interface Routes {
  '/api/v1/system': { get: Answered<Out<typeof systemSchema>> }
  '/api/v1/admin/session': { get: Answered<Out<typeof sessionSchema>>; delete: Answered<{ ended: boolean }> }
  '/api/v1/admin/settings': { get: Answered<Out<typeof console.settingsViewSchema>> }
  '/api/v1/admin/preview-token': { post: Asked<In<typeof console.previewTokenBodySchema>, console.PreviewToken> }
  '/api/v1/admin/health/check': { post: Answered<Out<typeof healthCheckSchema>> }

  '/api/v1/admin/basemaps': { get: Listed<basemap.ListedBasemap, BasemapFilters> }
  '/api/v1/admin/basemaps/bulk': { post: Bulk<'withdraw' | 'restore', BasemapFilters, Acknowledged> }
  '/api/v1/admin/basemaps/{code}': {
    get: Answered<basemap.AdminBasemap>
    patch: Asked<In<typeof basemap.basemapPatchSchema>, basemap.AdminBasemap & Acknowledged>
    delete: Answered<Forgotten> & { query?: { files?: Flag } }
  }
  '/api/v1/admin/basemaps/{code}/comparison': {
    get: Answered<Out<typeof comparisonSchema>> & {
      query: { left: string; right: string; zoom_min?: number; zoom_max?: number }
    }
  }
  '/api/v1/admin/basemaps/{code}/default-history': { get: Answered<Out<typeof basemap.defaultHistorySchema>> }
  '/api/v1/admin/basemaps/{code}/default-switch': { delete: Answered<Switch> }
  '/api/v1/admin/basemaps/{code}/default-version': {
    post: Asked<In<typeof basemap.defaultVersionBodySchema>, Out<typeof basemap.switchedBasemapSchema>>
  }
  '/api/v1/admin/basemaps/{code}/versions': { get: Listed<Version, OfTiles> }
  '/api/v1/admin/basemaps/{code}/versions/{version}': {
    patch: Asked<In<typeof basemap.versionPatchSchema>, Version & Acknowledged>
    delete: Answered<Forgotten> & { query?: { files?: Flag } }
  }
  '/api/v1/admin/basemaps/{code}/versions/{version}/approve': { post: Answered<Version & Acknowledged> }
  '/api/v1/admin/basemaps/{code}/versions/{version}/reject': {
    post: Asked<In<typeof basemap.rejectionBodySchema>, Version & Acknowledged>
  }
  '/api/v1/admin/versions': {
    get: Listed<
      Out<typeof basemap.listedVersionSchema>,
      OfTiles & { basemap_code: string; source_code: string; source_enabled: Flag; scan: string }
    >
  }
  '/tiles/{code}/{version}/tilejson.json': { get: Answered<TileJson> }

  '/api/v1/admin/vectors': { get: Listed<vector.AdminVector, VectorFilters> }
  '/api/v1/admin/vectors/bulk': { post: Bulk<'withdraw' | 'restore', VectorFilters, Acknowledged> }
  '/api/v1/admin/vectors/{code}': {
    get: Answered<vector.AdminVector>
    patch: Asked<In<typeof vector.vectorPatchBodySchema>, vector.AdminVector & Acknowledged>
    delete: Answered<Forgotten>
  }
  '/vectors/{code}/tilejson.json': { get: Answered<TileJson> }
  '/vectors/{code}/download': { get: Answered<unknown> }

  '/api/v1/admin/styles': { get: Listed<AdminStyle, OfScans & { scan: string }> }
  '/api/v1/admin/styles/import': {
    post: Answered<AdminStyle & { files: number; warnings?: Warning[] }> & { query?: { code?: string } }
  }
  '/api/v1/admin/styles/{code}': {
    get: Answered<AdminStyle>
    patch: Asked<In<typeof style.stylePatchBodySchema>, AdminStyle & Acknowledged>
    delete: Answered<Forgotten>
  }
  '/api/v1/admin/styles/{code}/document': {
    get: Answered<Out<typeof style.styleDocumentSchema>> & { query?: { revision?: number } }
  }

  '/api/v1/admin/uploads': { post: Answered<Upload> }
  '/api/v1/admin/uploads/{id}': { get: Answered<Upload>; delete: Answered<Upload> }
  '/api/v1/admin/uploads/{id}/content': { put: Asked<string, Upload> & { query: { offset: number } } }
  '/api/v1/admin/uploads/{id}/import': {
    post: Asked<In<typeof upload.uploadBodySchema>, Out<typeof upload.uploadedSchema>>
  }

  '/api/v1/admin/scan-sources': {
    get: Listed<scan.ScanSource, { kind: scan.SourceKind; enabled: Flag; status: scan.ScanStatus }>
    post: Asked<In<typeof scan.scanSourceBodySchema>, Out<typeof scan.savedScanSourceSchema>>
  }
  '/api/v1/admin/scan-sources/try': { post: Asked<In<typeof scan.triedSourceSchema>, scan.TriedScan> }
  '/api/v1/admin/scan-sources/{code}': { get: Answered<scan.ScanSource>; delete: Answered<Forgotten> }
  '/api/v1/admin/scan-sources/{code}/cancel': { post: Answered<scan.ScanSource> }
  '/api/v1/admin/scan-sources/{code}/queue': { post: Answered<scan.ScanSource> }
  '/api/v1/admin/scan-sources/{code}/scans': { get: Listed<scan.Scan, { status: scan.ScanStatus }> }
  '/api/v1/admin/scan-sources/{code}/scans/{id}/warnings': { get: Listed<scan.ScanWarning, { message_code: string }> }
  '/api/v1/admin/scan-sources/{code}/storage': { get: Answered<scan.SourceStorage> }

  '/api/v1/admin/tokens': {
    get: Listed<token.Token, TokenFilters>
    post: Asked<In<typeof token.tokenBodySchema>, token.IssuedToken>
  }
  '/api/v1/admin/tokens/bulk': {
    post: Bulk<
      'disable' | 'extend' | 'expire' | 'grant' | 'withdraw',
      TokenFilters,
      Acknowledged,
      { params?: In<typeof token.bulkTokenParamsSchema> | undefined }
    >
  }
  '/api/v1/admin/tokens/{id}': {
    get: Answered<token.Token>
    patch: Asked<In<typeof token.tokenPatchSchema>, Out<typeof edge.changedTokenSchema>>
    delete: Answered<Acknowledged>
  }
  '/api/v1/admin/tokens/{id}/disable': { post: Answered<edge.DisabledToken> }
  '/api/v1/admin/tokens/{id}/rotate': {
    post: Asked<In<typeof token.rotateBodySchema>, Out<typeof edge.rotatedTokenSchema>>
  }
  '/api/v1/admin/preview-links': { post: Asked<In<typeof token.previewLinkBodySchema>, token.PreviewLink> }
  '/api/v1/admin/signed-urls': {
    post: Asked<In<typeof signed.signedUrlBodySchema>, signed.SignedUrl | signed.SignedStyle>
  }
  '/api/v1/admin/signing-keys': { get: Listed<signed.SigningKey> }
  '/api/v1/admin/signing-keys/rotate': {
    post: Asked<In<typeof signed.rotateKeyBodySchema>, Acknowledged & { items: signed.SigningKey[] }>
  }

  '/api/v1/admin/targets': {
    get: Listed<
      target.Target,
      {
        kind: (typeof target.TARGET_KINDS)[number]
        mode: (typeof target.TARGET_MODES)[number]
        enabled: Flag
      }
    >
    post: Asked<In<typeof target.targetBodySchema>, Out<typeof target.savedTargetSchema>>
  }
  '/api/v1/admin/targets/{code}': { get: Answered<target.Target>; delete: Answered<Forgotten> }
  '/api/v1/admin/targets/{code}/test': { post: Answered<target.TargetTrial> }
  '/api/v1/admin/pushes': { post: Asked<In<typeof push.pushBodySchema>, push.PushRecord> }
  '/api/v1/admin/vector-pushes': { post: Asked<In<typeof push.vectorPushBodySchema>, push.VectorPushRecord> }
  '/api/v1/admin/push-records': { get: Records<push.PushRecord, PushFilters> }
  '/api/v1/admin/push-records/bulk': { post: Bulk<'retry' | 'acknowledge' | 'cancel', PushFilters> }
  '/api/v1/admin/push-records/{id}': { get: RecordDetails<push.PushRecord> }
  '/api/v1/admin/push-records/{id}/retry': RecordChange<push.PushRecord>
  '/api/v1/admin/push-records/{id}/cancel': RecordChange<push.PushRecord>
  '/api/v1/admin/push-records/{id}/acknowledge': RecordChange<push.PushRecord>
  '/api/v1/admin/vector-push-records': { get: Records<push.VectorPushRecord, VectorPushFilters> }
  '/api/v1/admin/vector-push-records/bulk': { post: Bulk<'retry' | 'acknowledge' | 'cancel', VectorPushFilters> }
  '/api/v1/admin/vector-push-records/{id}': { get: RecordDetails<push.VectorPushRecord> }
  '/api/v1/admin/vector-push-records/{id}/retry': RecordChange<push.VectorPushRecord>
  '/api/v1/admin/vector-push-records/{id}/cancel': RecordChange<push.VectorPushRecord>
  '/api/v1/admin/vector-push-records/{id}/acknowledge': RecordChange<push.VectorPushRecord>
  '/api/v1/admin/purge-records': {
    get: Records<push.PurgeRecord, DeliveryFilters & { target_code: string; basemap_code: string }>
  }
  '/api/v1/admin/purge-records/{id}': { get: RecordDetails<push.PurgeRecord> }
  '/api/v1/admin/purge-records/{id}/retry': RecordChange<push.PurgeRecord>
  '/api/v1/admin/purge-records/{id}/cancel': RecordChange<push.PurgeRecord>
  '/api/v1/admin/purge-records/{id}/acknowledge': RecordChange<push.PurgeRecord>
  '/api/v1/admin/notification-records': { get: Records<push.NotificationRecord, DeliveryFilters> }
  '/api/v1/admin/notification-rules': {
    get: Listed<Out<typeof notificationRuleSchema>, { enabled: Flag; kind: NotificationKind }>
    post: Asked<In<typeof notificationRuleBodySchema>, Out<typeof notificationRuleSchema>>
  }
  '/api/v1/admin/notification-rules/{id}': { delete: Answered<Out<typeof notificationRuleSchema>> }
  '/api/v1/admin/notification-rules/{id}/test': { post: Answered<push.NotificationRecord> }

  '/api/v1/admin/slice/jobs': {
    get: Listed<slice.ListedSliceJob, JobFilters>
    post: Asked<SliceBody, slice.SliceJob>
  }
  '/api/v1/admin/slice/jobs/bulk': { post: Bulk<'cancel' | 'acknowledge', JobFilters> }
  '/api/v1/admin/slice/jobs/{id}': { get: Answered<slice.SliceJob> }
  '/api/v1/admin/slice/jobs/{id}/cancel': { post: Answered<slice.SliceJob> }
  '/api/v1/admin/slice/jobs/{id}/acknowledge': { post: Answered<slice.SliceJob> }
  '/api/v1/admin/slice/jobs/{id}/log': { get: Answered<unknown> & { query?: { follow?: '0' | '1' } } }
  '/api/v1/admin/slice/estimate': {
    post: Asked<
      SliceBody,
      Omit<Out<typeof planLineSchema>, 'type'> & { free_bytes: number; warnings?: Warning[] | undefined }
    >
  }
  '/api/v1/admin/slice/files': {
    get: Listed<
      { name: string; path: string; kind: 'file' | 'directory'; size: number },
      { kind: 'file' | 'directory'; dir: string }
    >
  }
  '/api/v1/admin/exports': {
    get: Listed<
      exported.Export,
      {
        status: (typeof exported.EXPORT_STATUSES)[number]
        basemap_code: string
        version: string
        target_code: string
      }
    >
    post: Asked<exported.ExportInput, exported.Export>
  }
  '/api/v1/admin/exports/{id}': { delete: Answered<exported.Export> }
  '/api/v1/admin/exports/{id}/file': { get: Answered<unknown> }
  '/api/v1/admin/seeds': {
    get: Listed<seed.Seed, { status: (typeof seed.SEED_STATUSES)[number]; cancelled: Flag; basemap_code: string }>
    post: Asked<In<typeof seed.seedBodySchema>, seed.Seed>
  }
  '/api/v1/admin/seeds/estimate': { post: Asked<In<typeof seed.seedBodySchema>, seed.SeedEstimate> }
  '/api/v1/admin/seeds/{id}/cancel': { post: Answered<seed.Seed> }

  '/api/v1/admin/audit': { get: Listed<console.AuditEntry, AuditFilters & { before: number }> }
  '/api/v1/admin/audit/export': {
    get: Answered<unknown> & { query?: Optional<AuditFilters & { q: string; format: 'csv' | 'ndjson' }> }
  }
  '/api/v1/admin/audit/{id}': { get: Answered<console.AuditEntry> }
  '/api/v1/admin/dashboard': { get: Answered<console.Dashboard> }
  '/api/v1/admin/dashboard/traffic': {
    get: Answered<traffic.TrafficHistory> & { query?: { range?: traffic.TrafficRange } }
  }
  '/api/v1/admin/edges': { get: Listed<edge.EdgePresence, { host: string }> }
  '/api/v1/admin/edges/{id}': { get: Answered<edge.EdgePresence> }
  '/api/v1/admin/edges/{id}/traffic': {
    get: Answered<traffic.EdgeTraffic> & { query?: { range?: 'hour' | 'day' } }
  }
  '/api/v1/admin/usage': {
    get: {
      query: Optional<{ q: string; sort: string; limit: number; offset: number }> & {
        by: usage.UsageBy | 'basemap,token' | 'vector,token'
        step?: 'hour' | 'day' | 'total'
        format?: 'json' | 'csv'
      } & Optional<{
          id: string
          token_id: string
          basemap_code: string
          vector_code: string
          from: string
          to: string
        }>
      answer: { items: usage.UsageItem[]; total: number }
    }
  }
  '/api/v1/admin/usage/cells': {
    get: Answered<usage.UsageCells> & {
      query: {
        basemap: string
        version?: string
        kind?: usage.UsageCellKind
        from?: string
        to?: string
        limit?: number
      }
    }
  }
}
