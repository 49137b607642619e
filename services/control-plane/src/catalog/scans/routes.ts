import { listOf } from '@gateway/contracts/common.js'
import { refuse } from '@gateway/contracts/errors.js'
import { SCAN_STATUSES, type Scan, scanSchema } from '@gateway/contracts/scan-source.js'
import { insertAudit } from '@gateway/store/audit.js'
import { readScanSources, readScans } from '@gateway/store/scan-sources.js'
import { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import type { App } from '../../platform/http/app-type.js'
import { type MemoryListing, pageOf } from '../../platform/http/list-in-memory.js'
import { listQuery } from '../../platform/http/list-query.js'
import { sendRefusal } from '../../platform/http/refusal.js'
import { runScan, runScans } from './run.js'

const scanRunSchema = scanSchema.extend({ source_code: z.string() })
/** The kept ones are few. */
const SCANS = {
  searched: { message: ({ message }) => message },
  sortable: { started_at: ({ started_at }) => started_at, finished_at: ({ finished_at }) => finished_at },
  order: '-started_at',
  filters: { status: ({ status }) => status },
} satisfies MemoryListing<Scan>
const byCode = z.object({ code: z.string() })

const NO_SUCH_SOURCE = refuse('not_found', 'no such scan source')
const SOURCE_DISABLED = refuse('invalid_parameters', 'this scan source is disabled; enable it first')

export function scanRoutes(app: App, ctx: ControlContext): void {
  app.post(
    '/api/v1/admin/scan-sources/:code/run',
    {
      config: { mayTakeLong: true },
      schema: {
        operationId: 'runScan',
        summary: 'Scan a source now',
        description:
          'Answers when the scan is over, also where it failed (see `status`). One scan runs at a time in the whole cluster: 409 while ' +
          'there is another, and for nothing else; a disabled source is 400. What is not found any more becomes unavailable and comes back ' +
          'by itself; a directory that is gone or cannot be read makes the scan fail, and nothing changes. `message` says what was left ' +
          'out and why: links out of the source, names that cannot be a code, broken archives, codes that belong to another source.',
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
      const entry = { ...admin, action: 'scan-source.run', subject: source.code, detail: { ...scan } }
      await ctx.sql.begin((tx) => insertAudit(tx, entry))
      return { ...scan, source_code: source.code }
    },
  )
  app.get(
    '/api/v1/admin/scan-sources/:code/scans',
    {
      schema: {
        operationId: 'listScans',
        summary: 'The scans of a source, newest first',
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
  app.post(
    '/api/v1/admin/vectors/rescan',
    {
      config: { mayTakeLong: true },
      schema: {
        operationId: 'rescanVectors',
        summary: 'Scan every enabled vector source now',
        description:
          'One after the other; answers when all are over. 409 while another scan is running. A `.json` that is not GeoJSON is skipped; a ' +
          '`.geojson`, `.gpkg` or `.fgb` that is not what its name says, or is cut off, is left out with a warning; a ' +
          'shapefile without its `.shx` or `.dbf` is listed with a warning. A folder behind a link within the source is found under both ' +
          'paths.',
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
