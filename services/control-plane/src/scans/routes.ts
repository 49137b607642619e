import { resolve } from 'node:path'
import { listOf } from '@gateway/contracts/common.js'
import { refuse } from '@gateway/contracts/errors.js'
import {
  type ScanSource,
  type ScanSourceBody,
  scanSchema,
  scanSourceBodySchema,
  scanSourceSchema,
} from '@gateway/contracts/scan-source.js'
import { insertAudit } from '@gateway/store/audit.js'
import { readScanSources, readScans, upsertScanSource } from '@gateway/store/scan-sources.js'
import { z } from 'zod'
import { type ControlContext, commitAndPublish, edgesFollow } from '../context.js'
import type { AdminIdentity, App } from '../http/app-type.js'
import { sendRefusal } from '../http/refusal.js'
import { runScan, runScans } from './run.js'

const scanRunSchema = scanSchema.extend({ source_code: z.string() })

const NO_SUCH_SOURCE = refuse('not_found', 'no such scan source')
const SOURCE_DISABLED = refuse('invalid_parameters', 'this scan source is disabled; enable it first')
const KIND_FIXED = refuse('invalid_parameters', 'body.kind: the kind of a scan source cannot change; use another code')

export function scanRoutes(app: App, ctx: ControlContext): void {
  app.get(
    '/api/v1/admin/scan-sources',
    { schema: { summary: 'Scan sources with their last scan', response: { 200: listOf(scanSourceSchema) } } },
    async () => {
      const items = await readScanSources(ctx.sql)
      return { items, total: items.length }
    },
  )
  app.post(
    '/api/v1/admin/scan-sources',
    {
      schema: {
        summary: 'Create or update a scan source by its code',
        description:
          'Nothing is scanned by this call. The directory need not exist yet. A field that is left out keeps its value; a new source is ' +
          'enabled and named by its code. The kind of a known source cannot change (400).',
        body: scanSourceBodySchema,
        response: { 200: scanSourceSchema },
      },
    },
    async ({ body, admin }, reply) => {
      const saved = await saveSource(ctx, { ...body, path: resolve(body.path) }, admin)
      return saved ?? sendRefusal(reply, KIND_FIXED)
    },
  )
  app.post(
    '/api/v1/admin/scan-sources/:code/run',
    {
      config: { mayTakeLong: true },
      schema: {
        summary: 'Scan a source now',
        description:
          'Answers when the scan is over, also where it failed (`status` tells). One scan runs at a time in the whole cluster: 409 while ' +
          'there is another, and for nothing else; a disabled source is 400. What is not found any more becomes unavailable and comes back by itself; a ' +
          'directory that is gone or cannot be read makes the scan fail, and nothing changes. `message` says what was left out and why: ' +
          'links out of the source, names that cannot be a code, broken archives, codes that belong to another source.',
        params: z.object({ code: z.string() }),
        response: { 200: scanRunSchema },
      },
    },
    async ({ params, admin }, reply) => {
      const [source] = await readScanSources(ctx.sql, params.code)
      if (source === undefined) return sendRefusal(reply, NO_SUCH_SOURCE)
      if (!source.enabled) return sendRefusal(reply, SOURCE_DISABLED)
      const run = await runScan(ctx, source)
      if (!run.ok) return sendRefusal(reply, run)
      await ctx.sql.begin((tx) => audit(tx, admin, 'scan-source.run', source.code, { ...run.scan }))
      return { ...run.scan, source_code: source.code }
    },
  )
  app.get(
    '/api/v1/admin/scan-sources/:code/scans',
    {
      schema: {
        summary: 'The scans of a source, newest first',
        description: 'The last 50 are kept.',
        params: z.object({ code: z.string() }),
        response: { 200: listOf(scanSchema) },
      },
    },
    async ({ params }, reply) => {
      const [source] = await readScanSources(ctx.sql, params.code)
      if (source === undefined) return sendRefusal(reply, NO_SUCH_SOURCE)
      const items = await readScans(ctx.sql, params.code)
      return { items, total: items.length }
    },
  )
  app.post(
    '/api/v1/admin/vectors/rescan',
    {
      config: { mayTakeLong: true },
      schema: {
        summary: 'Scan every enabled vector source now',
        description:
          'One after the other; answers when all are over. 409 while another scan is running. A `.json` that is not GeoJSON is passed over; ' +
          'a shapefile without its `.shx` or `.dbf` is listed, and said so. A folder behind a link within the source is found under both paths.',
        response: { 200: listOf(scanRunSchema) },
      },
    },
    async ({ admin }, reply) => {
      const sources = (await readScanSources(ctx.sql)).filter((source) => source.kind === 'vector' && source.enabled)
      const run = await runScans(ctx, sources)
      if (!run.ok) return sendRefusal(reply, run)
      await ctx.sql.begin((tx) =>
        audit(tx, admin, 'vectors.rescan', 'vectors', { sources: sources.map((s) => s.code) }),
      )
      const items = run.scans.map((scan, i) => ({ ...scan, source_code: sources[i]?.code ?? '' }))
      return { items, total: items.length }
    },
  )
}

/** null: the source is of another kind. */
async function saveSource(ctx: ControlContext, body: ScanSourceBody, admin: AdminIdentity): Promise<ScanSource | null> {
  const { result, revision } = await commitAndPublish(ctx, async (tx) => {
    const [before] = await readScanSources(tx, body.code)
    const saved = await upsertScanSource(tx, { ...body, name: body.name, enabled: body.enabled })
    if (saved === null) return { result: null, changes: [] }
    await audit(tx, admin, 'scan-source.save', body.code, { ...body })
    const [source] = await readScanSources(tx, body.code)
    // Edges serve nothing from outside of a source's directory: they must know that it is another one now.
    const moved = before !== undefined && before.path !== body.path
    return { result: source ?? null, changes: moved ? [{ kind: 'all', key: '' }] : [] }
  })
  await edgesFollow(ctx, revision)
  return result
}

function audit(
  tx: Parameters<typeof insertAudit>[0],
  admin: AdminIdentity,
  action: string,
  subject: string,
  detail: Record<string, unknown>,
): Promise<void> {
  return insertAudit(tx, { ...admin, action, subject, detail })
}
