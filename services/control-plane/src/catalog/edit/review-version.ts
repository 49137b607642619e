import { adminBasemapVersionSchema, rejectionBodySchema } from '@gateway/contracts/basemap.js'
import { acknowledgementFields } from '@gateway/contracts/edge.js'
import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { insertAudit } from '@gateway/store/audit.js'
import { approveVersion, readBasemap, rejectVersion } from '@gateway/store/basemaps.js'
import { toAdminVersion } from '@gateway/store/catalog/basemap.js'
import type { Transaction } from '@gateway/store/connect.js'
import { insertEvents } from '@gateway/store/deliveries.js'
import type { ControlContext } from '../../platform/context.js'
import type { KnownEdges } from '../../platform/edges/known-edges.js'
import type { AdminIdentity, App } from '../../platform/http/app-type.js'
import { NO_SUCH_VERSION, sendRefusal } from '../../platform/http/refusal.js'
import { traceToKeep } from '../../platform/trace.js'
import { byVersion, type CatalogChange, CONFIRMED, commitItem, readVersion, versionOf } from './route-parts.js'

const NOT_HELD = refuse('conflict', coded('version_not_held'))

const EVENT = 'Every enabled HTTP target gets an event.'
const response = { 200: adminBasemapVersionSchema.extend(acknowledgementFields) }

interface Review {
  readonly code: string
  readonly version: string
  /** reason of a rejection; null: the version is approved */
  readonly reason: string | null
  readonly admin: AdminIdentity
}

/** Approves and rejects versions that are held. */
export function reviewRoutes(app: App, ctx: ControlContext, edges: KnownEdges): void {
  app.post(
    '/api/v1/admin/basemaps/:code/versions/:version/approve',
    {
      config: { mayTakeLong: true },
      schema: {
        operationId: 'approveBasemapVersion',
        summary: 'Approve a version that is held',
        description:
          'Publishes a version that was found in a source with `publish: approval`, even if it was rejected before. The request returns 409 if ' +
          `the version does not wait for approval. If no default was set and this is the highest version, it becomes the default. ${EVENT} ` +
          `${CONFIRMED}`,
        params: byVersion,
        response,
      },
    },
    async ({ params, admin }, reply) => {
      const outcome = await review(ctx, edges, { ...params, reason: null, admin })
      return 'ok' in outcome ? sendRefusal(reply, outcome) : outcome
    },
  )
  app.post(
    '/api/v1/admin/basemaps/:code/versions/:version/reject',
    {
      config: { mayTakeLong: true },
      schema: {
        operationId: 'rejectBasemapVersion',
        summary: 'Reject a version that is held',
        description:
          'The version stays withdrawn, and `rejected_reason` has the reason. The request returns 409 if the version is not held. Later scans ' +
          `do not change the rejection, but the version can still be approved. ${EVENT} ${CONFIRMED}`,
        params: byVersion,
        body: rejectionBodySchema,
        response,
      },
    },
    async ({ params, body, admin }, reply) => {
      const outcome = await review(ctx, edges, { ...params, reason: body.reason, admin })
      return 'ok' in outcome ? sendRefusal(reply, outcome) : outcome
    },
  )
}

async function review(ctx: ControlContext, edges: KnownEdges, { code, version, reason, admin }: Review) {
  const change = async (tx: Transaction): Promise<CatalogChange> => {
    const basemap = await readBasemap(tx, code)
    const stored = versionOf(basemap, version)
    if (basemap === null || stored === null) return NO_SUCH_VERSION
    const done =
      reason === null ? await approveVersion(tx, code, version) : await rejectVersion(tx, code, version, reason)
    if (!done) return NOT_HELD
    const action = reason === null ? 'version.approve' : 'version.reject'
    const before = { held: stored.review === 'held' }
    const said = reason === null ? {} : { reason }
    const detail = { name: basemap.name, version, before, after: { held: false }, ...said }
    await insertAudit(tx, { ...admin, action, subject: code, detail })
    const by = { basemap_code: code, version, actor: admin.actor, at: new Date(ctx.now()).toISOString(), ...said }
    const event = reason === null ? 'basemap.version.approved' : 'basemap.version.rejected'
    await insertEvents(tx, { event, basemapCode: code, version, body: by }, traceToKeep())
    return { ok: true, changes: [{ kind: 'basemap', key: code }] }
  }
  return commitItem(ctx, edges, change, (tx) => readVersion(tx, code, version), toAdminVersion)
}
