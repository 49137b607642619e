import { listOf } from '@gateway/contracts/common.js'
import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import {
  SCAN_STATUSES,
  type Scan,
  type ScanSource,
  type ScanWarning,
  scanSchema,
  scanSourceSchema,
  scanWarningSchema,
  triedScanSchema,
  triedSourceSchema,
} from '@gateway/contracts/scan-source.js'
import { insertAudit } from '@gateway/store/audit.js'
import { type MemoryListing, pageOf } from '@gateway/store/catalog/list-in-memory.js'
import { listQuery, text } from '@gateway/store/catalog/list-query.js'
import { cancelScans, queueScan, readScanSources, readScans, readScanWarnings } from '@gateway/store/scan-sources.js'
import { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import type { App } from '../../platform/http/app-type.js'
import { isUuid } from '../../platform/http/input-validation.js'
import { NO_SUCH_SOURCE, sendRefusal } from '../../platform/http/refusal.js'
import { NO_CODE } from '../register/codes.js'
import { placeOfBody } from '../sources/source-place.js'
import { runScan, runScans } from './run.js'
import { tryScan } from './try-scan.js'

const scanRunSchema = scanSchema.extend({ source_code: z.string() })
/** Few scans are kept, so the list has no pages. */
const SCANS = {
  searched: { message: ({ message }) => message },
  sortable: {
    started_at: ({ started_at }) => started_at,
    finished_at: ({ finished_at }) => finished_at,
    status: ({ status }) => status,
    added: ({ added }) => added,
    updated: ({ updated }) => updated,
    missing: ({ missing }) => missing,
  },
  order: '-started_at',
  filters: { status: ({ status }) => status },
} satisfies MemoryListing<Scan>
const byCode = z.object({ code: z.string() })
const byScan = byCode.extend({ id: z.string() })
const WARNINGS = {
  searched: { message: ({ message }) => message },
  sortable: { number: ({ number }) => number, message: ({ message }) => message },
  order: 'number',
  filters: { message_code: ({ message_code }) => message_code ?? '' },
} satisfies MemoryListing<ScanWarning>

const NO_SUCH_SCAN = refuse('not_found', coded('scan_not_found'))
const NOTHING_TO_CANCEL = refuse('conflict', coded('scan_not_running'))
const SOURCE_DISABLED = refuse('invalid_parameters', coded('source_disabled'))

export function scanRoutes(app: App, ctx: ControlContext): void {
  app.post(
    '/api/v1/admin/scan-sources/:code/run',
    {
      config: { mayTakeLong: true },
      schema: {
        operationId: 'runScan',
        summary: 'Scan a source now',
        description:
          'The response comes when the scan has ended, also if it failed (see `status`). One scan runs at a time in the whole cluster; the ' +
          'request returns 409 only while another scan runs. A disabled source returns 400. Items that are not found any more become ' +
          'unavailable, and become available when a later scan finds them. If a directory is missing or unreadable, or object storage refuses ' +
          'or does not respond, the scan fails and changes nothing. `message` says what the scan left out and why: links out of the source, ' +
          'names that cannot be a code, broken archives, codes that belong to another source, and files and layouts that are not served. Many ' +
          'files of the same kind in one folder produce one warning.',
        params: byCode,
        response: { 200: scanRunSchema },
      },
    },
    async ({ params, admin }, reply) => {
      const [source] = await readScanSources(ctx.sql, params.code)
      if (source === undefined) return sendRefusal(reply, NO_SUCH_SOURCE)
      if (!source.enabled) return sendRefusal(reply, SOURCE_DISABLED)
      const run = await runScan(ctx, source)
      if (!run.ok) return sendRefusal(reply, run)
      const { scan } = run
      const entry = {
        ...admin,
        action: 'scan-source.run',
        subject: source.code,
        detail: { name: source.name, ...scan },
      }
      await ctx.sql.begin((tx) => insertAudit(tx, entry))
      return { ...scan, source_code: source.code }
    },
  )
  app.post(
    '/api/v1/admin/scan-sources/:code/queue',
    {
      schema: {
        operationId: 'queueScan',
        summary: 'Queue a scan of a source',
        description:
          'Returns at once. The scan waits for its turn (`queued_at`) and survives a restart; a source waits at most once. `last_scan` shows ' +
          'the progress and the result. A disabled source returns 400.',
        params: byCode,
        response: { 202: scanSourceSchema },
      },
    },
    async ({ params, admin }, reply) => {
      const [source] = await readScanSources(ctx.sql, params.code)
      if (source === undefined) return sendRefusal(reply, NO_SUCH_SOURCE)
      if (!source.enabled) return sendRefusal(reply, SOURCE_DISABLED)
      await ctx.sql.begin(async (tx) => {
        await queueScan(tx, source.code)
        await insertAudit(tx, {
          ...admin,
          action: 'scan-source.queue',
          subject: source.code,
          detail: { name: source.name },
        })
      })
      const [queued] = await readScanSources(ctx.sql, source.code)
      return reply.code(202).send(queued as ScanSource)
    },
  )
  app.post(
    '/api/v1/admin/scan-sources/:code/cancel',
    {
      schema: {
        operationId: 'cancelScan',
        summary: 'Cancel the scan of a source',
        description:
          'Removes a waiting scan from the queue, or ends a running one within seconds; a scan that is ended so has changed nothing. Returns ' +
          '409 if the source has neither a waiting nor a running scan.',
        params: byCode,
        response: { 200: scanSourceSchema },
      },
    },
    async ({ params, admin }, reply) => {
      const [source] = await readScanSources(ctx.sql, params.code)
      if (source === undefined) return sendRefusal(reply, NO_SUCH_SOURCE)
      const cancelled = await ctx.sql.begin(async (tx) => {
        if (!(await cancelScans(tx, source.code, admin.actor))) return false
        await insertAudit(tx, {
          ...admin,
          action: 'scan-source.cancel',
          subject: source.code,
          detail: { name: source.name },
        })
        return true
      })
      if (!cancelled) return sendRefusal(reply, NOTHING_TO_CANCEL)
      const [after] = await readScanSources(ctx.sql, source.code)
      return after ?? source
    },
  )
  app.post(
    '/api/v1/admin/scan-sources/try',
    {
      config: { mayTakeLong: true },
      schema: {
        operationId: 'tryScan',
        summary: 'Try a scan without writing anything',
        description:
          'Reports what a scan of this directory or remote place would add, change and miss. The source may be known (`code`) or new. Returns ' +
          '409 while a scan runs. A database is given by its `url`. If the directory or database cannot be read, the request succeeds and `problem` has the reason.',
        body: triedSourceSchema,
        response: { 200: triedScanSchema },
      },
    },
    async ({ body }, reply) => {
      const place = placeOfBody(body)
      if (!place.ok) return sendRefusal(reply, place)
      const gone = new AbortController()
      reply.raw.once('close', () => gone.abort(new Error('the caller has gone')))
      const tried = await tryScan(ctx, { code: body.code ?? NO_CODE, kind: body.kind, ...place }, gone.signal)
      return 'ok' in tried ? sendRefusal(reply, tried) : tried
    },
  )
  app.get(
    '/api/v1/admin/scan-sources/:code/scans/:id/warnings',
    {
      schema: {
        operationId: 'listScanWarnings',
        summary: 'List the items that a scan left out or found doubtful',
        description:
          'In the order in which the scan found them. The first 1,000 are kept; `warnings` of the scan counts all. `message_code` and ' +
          '`message_params` are the code and the parameters of each text.',
        params: byScan,
        querystring: listQuery(WARNINGS, { message_code: text }),
        response: { 200: listOf(scanWarningSchema) },
      },
    },
    async ({ params, query }, reply) => {
      const messages = isUuid(params.id) ? await readScanWarnings(ctx.sql, params.code, params.id) : null
      if (messages === null) return sendRefusal(reply, NO_SUCH_SCAN)
      return pageOf(
        messages.map((message, i) => ({ number: i + 1, ...message })),
        WARNINGS,
        query,
      )
    },
  )
  app.get(
    '/api/v1/admin/scan-sources/:code/scans',
    {
      schema: {
        operationId: 'listScans',
        summary: 'List the scans of a source, newest first',
        description: 'The last 50 are kept.',
        params: byCode,
        querystring: listQuery(SCANS, { status: z.enum(SCAN_STATUSES) }),
        response: { 200: listOf(scanSchema) },
      },
    },
    async ({ params, query }, reply) => {
      const [source] = await readScanSources(ctx.sql, params.code)
      if (source === undefined) return sendRefusal(reply, NO_SUCH_SOURCE)
      return pageOf(await readScans(ctx.sql, params.code), SCANS, query)
    },
  )
  app.get(
    '/api/v1/admin/scan-sources/:code/scans/:id',
    {
      schema: {
        operationId: 'getScan',
        summary: 'Get a scan of a source',
        description: 'One of the last 50, by its `id`. While the scan runs, the response has its progress.',
        params: byScan,
        response: { 200: scanSchema },
      },
    },
    async ({ params }, reply) => {
      const scan = (await readScans(ctx.sql, params.code)).find(({ id }) => id === params.id)
      return scan ?? sendRefusal(reply, NO_SUCH_SCAN)
    },
  )
  app.post(
    '/api/v1/admin/vectors/rescan',
    {
      config: { mayTakeLong: true },
      schema: {
        operationId: 'rescanVectors',
        summary: 'Scan every enabled vector source now',
        description:
          'Scans the sources one after the other; the response comes when all scans have ended. Returns 409 while another scan runs. Vectors ' +
          'are GeoJSON, GeoJSON sequences (`.geojsonl`, `.geojsons`, `.ndjson`), shapefiles, zips of shapefiles, GeoPackages and FlatGeobuf. ' +
          'If the machine has GDAL (ogr2ogr 3.4 or later), KML, KMZ, GML and CSV with columns of coordinates are vectors too. A `.json` that ' +
          'is not GeoJSON is skipped. A file is left out with a warning if its content does not match its name, is cut off, or is not a ' +
          'vector. A shapefile without its `.shx` or `.dbf` is listed with a warning. A folder behind a link within the source is found under ' +
          'both paths.',
        response: { 200: listOf(scanRunSchema) },
      },
    },
    async ({ admin }, reply) => {
      const sources = (await readScanSources(ctx.sql)).filter((source) => source.kind === 'vector' && source.enabled)
      const run = await runScans(ctx, sources)
      if (!run.ok) return sendRefusal(reply, run)
      const codes = sources.map(({ code }) => code)
      const entry = { ...admin, action: 'vectors.rescan', subject: 'vectors', detail: { sources: codes } }
      await ctx.sql.begin((tx) => insertAudit(tx, entry))
      const items = run.scans.map((scan, i) => ({ ...scan, source_code: codes[i] ?? '' }))
      return { items, total: items.length }
    },
  )
}
