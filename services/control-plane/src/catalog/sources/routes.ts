import { listOf } from '@gateway/contracts/common.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import {
  SCAN_STATUSES,
  type ScanSchedule,
  type ScanSource,
  type ScanSourceBody,
  SOURCE_KINDS,
  savedScanSourceSchema,
  scanSourceBodySchema,
  scanSourceSchema,
} from '@gateway/contracts/scan-source.js'
import { withWarnings } from '@gateway/contracts/warning.js'
import { isRemote } from '@gateway/core/object-storage/location.js'
import { insertAudit } from '@gateway/store/audit.js'
import { flag, listQuery } from '@gateway/store/catalog/list-query.js'
import {
  changesOfSource,
  listScanSources,
  type NewScanSource,
  readScanSources,
  SCAN_SOURCE_LISTING,
  upsertScanSource,
} from '@gateway/store/scan-sources.js'
import { z } from 'zod'
import { differences } from '../../platform/audit/differences.js'
import type { ControlContext } from '../../platform/context.js'
import { commitAndConfirm } from '../../platform/edges/commit.js'
import type { KnownEdges } from '../../platform/edges/known-edges.js'
import { directoryWarnings } from '../../platform/files/path-warnings.js'
import type { AdminIdentity, App } from '../../platform/http/app-type.js'
import { CODE_EXISTS, CREATES_ONLY, createsOnly } from '../../platform/http/creates-only.js'
import { NO_SUCH_SOURCE, sendRefusal } from '../../platform/http/refusal.js'
import { byCode } from '../edit/route-parts.js'
import { nextRun } from '../scans/automatic/next-run.js'
import { LAYERS_SOURCE } from './configured-sources.js'
import { placeOfBody } from './source-place.js'

const WATCHES_FOLDERS = refuse('invalid_parameters', coded('watch_of_folders'))
const KIND_FIXED = refuse('invalid_parameters', coded('source_kind_fixed'))
const STYLES_ARE_LOCAL = refuse('invalid_parameters', coded('style_source_remote'))
/** The path of the slicing source is fixed: with another one, its layers would be missing, and new layers would be written outside of it. */
const PLACE_OF_SLICING = refuse('invalid_parameters', coded('source_path_of_slicing'))

export function sourceRoutes(app: App, ctx: ControlContext, edges: KnownEdges): void {
  app.get(
    '/api/v1/admin/scan-sources',
    {
      schema: {
        operationId: 'listScanSources',
        summary: 'List scan sources with their last scan',
        description: '`status` filters by the status of the last scan, and `last_scan` sorts by its start.',
        querystring: listQuery(SCAN_SOURCE_LISTING, {
          kind: z.enum(SOURCE_KINDS),
          enabled: flag,
          status: z.enum(SCAN_STATUSES),
        }),
        response: { 200: listOf(scanSourceSchema) },
      },
    },
    ({ query }) => listScanSources(ctx.sql, query),
  )
  app.get(
    '/api/v1/admin/scan-sources/:code',
    {
      schema: {
        operationId: 'getScanSource',
        summary: 'Get a scan source',
        description: 'With its last scan.',
        params: byCode,
        response: { 200: scanSourceSchema },
      },
    },
    async ({ params }, reply) => {
      const [source] = await readScanSources(ctx.sql, params.code)
      return source ?? sendRefusal(reply, NO_SUCH_SOURCE)
    },
  )
  app.post(
    '/api/v1/admin/scan-sources',
    {
      // Waits for edges, for at most TOKEN_STALE_SECONDS.
      config: { mayTakeLong: true },
      schema: {
        operationId: 'saveScanSource',
        summary: 'Create or update a scan source by its code',
        description:
          'This call does not start a scan. `path` is a directory, `s3://bucket/prefix`, or an http(s) address. A directory need not exist yet ' +
          '(`warnings` say so). An http(s) address leads to a directory with a tilejson.json or to one archive for basemaps, and to one file ' +
          'for vectors. A source of styles must be a directory. Credentials of object storage are settings of the gateway: a `path` that ' +
          'contains credentials or a query returns 400. CALLBACK_ALLOW and CALLBACK_DENY decide where an http(s) address may lead. An omitted ' +
          'field keeps its value; a new source is enabled and has its code as its name. The kind of a known source cannot change (400). Nor ' +
          'can the path of `layers`, which SLICE_OUTPUT_ROOT sets. The items of a disabled source are neither served nor listed for readers; ' +
          'when the source is enabled again, they are back at once. `schedule` and `watch` start scans automatically. One scan runs at a time, ' +
          'a due scan waits, and one scan replaces several missed ones. `publish` decides what happens to versions that are found for the ' +
          'first time. The response comes when every live edge process has applied the change, at the latest after TOKEN_STALE_SECONDS. ' +
          'A source of kind `postgis` has a `url` instead of a `path`, and publishes the tables, views and functions that its role may read: those of ' +
          '`schemas`, or only those in `tables` and `functions`. Its `options` apply from the next scan on. ' +
          `${CREATES_ONLY}`,
        body: scanSourceBodySchema,
        response: { 200: savedScanSourceSchema },
      },
    },
    async (request, reply) => {
      const place = placeOfBody(request.body)
      if (!place.ok) return sendRefusal(reply, place)
      if (request.body.kind === 'style' && isRemote(place.path)) return sendRefusal(reply, STYLES_ARE_LOCAL)
      const body = { ...request.body, path: place.path, password: place.password, choice: place.choice }
      const scheduled = firstScan(body.schedule, ctx.now())
      if (!scheduled.ok) return sendRefusal(reply, scheduled)
      if (body.watch === true && (isRemote(body.path) || body.kind === 'postgis'))
        return sendRefusal(reply, WATCHES_FOLDERS)
      const createOnly = createsOnly(request)
      const [known] = body.code === LAYERS_SOURCE ? await readScanSources(ctx.sql, LAYERS_SOURCE) : []
      if (known !== undefined && known.path !== body.path && !createOnly) return sendRefusal(reply, PLACE_OF_SLICING)
      const saved = await saveSource(ctx, edges, { ...body, nextScanAt: scheduled.at }, request.admin, createOnly)
      if (saved === null) return sendRefusal(reply, createOnly ? CODE_EXISTS : KIND_FIXED)
      return withWarnings(
        saved,
        isRemote(saved.path) || saved.kind === 'postgis' ? [] : await directoryWarnings('path', saved.path, 'read'),
      )
    },
  )
}

/** Returns the time of the first scan of a schedule that is to be saved. */
function firstScan(
  schedule: ScanSchedule | null | undefined,
  nowMs: number,
): { readonly ok: true; readonly at: Date | null } | Refusal {
  if (schedule === null || schedule === undefined) return { ok: true, at: null }
  const zone = 'cron' in schedule ? schedule.time_zone : undefined
  if (zone !== undefined && !isTimeZone(zone))
    return refuse('invalid_parameters', coded('schedule_zone_unknown', { zone }))
  try {
    const next = nextRun(schedule, nowMs)
    if (next === null) return refuse('invalid_parameters', coded('schedule_never'))
    return { ok: true, at: new Date(next) }
  } catch (error) {
    const problem = (error as Error).message.replace(/^Cron\w+: /, '')
    return refuse('invalid_parameters', coded('schedule_not_understood', { problem }))
  }
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

function audited({ name, kind, path, enabled, publish, schedule, watch, ...more }: ScanSource) {
  const { schemas, tables, functions, options, layers, has_headers } = more
  const choice = kind === 'service' ? { options, layers, has_headers } : { schemas, tables, functions, options }
  return {
    name,
    kind,
    path,
    enabled,
    publish,
    schedule,
    watch,
    ...((kind === 'postgis' || kind === 'service') && choice),
  }
}

/** Returns null if the source is of another kind, or exists and must not be updated. */
async function saveSource(
  ctx: ControlContext,
  edges: KnownEdges,
  body: Omit<NewScanSource, 'name' | 'enabled'> & Pick<ScanSourceBody, 'name' | 'enabled'>,
  admin: AdminIdentity,
  createOnly: boolean,
): Promise<ScanSource | null> {
  const { code, path } = body
  const { result } = await commitAndConfirm(ctx, edges, async (tx) => {
    const [before] = await readScanSources(tx, code)
    const saved = await upsertScanSource(tx, { ...body, name: body.name, enabled: body.enabled }, createOnly)
    if (saved === null) return { result: null, changes: [] }
    const [source = null] = await readScanSources(tx, code)
    const changed = source && differences(before === undefined ? null : audited(before), audited(source))
    if (changed) {
      const detail = { name: source.name, ...changed }
      await insertAudit(tx, { ...admin, action: 'scan-source.save', subject: code, detail })
    }
    if (before === undefined || source === null) return { result: source, changes: [] }
    // Edges serve nothing outside of a source's directory, so they must learn of a new one.
    if (before.path !== path) return { result: source, changes: [{ kind: 'all', key: '' }] }
    return { result: source, changes: before.enabled === source.enabled ? [] : await changesOfSource(tx, code) }
  })
  return result
}
