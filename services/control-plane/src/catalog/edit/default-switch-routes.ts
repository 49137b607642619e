import { defaultHistorySchema, defaultSwitchSchema } from '@gateway/contracts/basemap.js'
import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { insertAudit } from '@gateway/store/audit.js'
import { readBasemap } from '@gateway/store/basemaps.js'
import { readDefaultHistory } from '@gateway/store/default-history.js'
import { endSwitch, readPendingSwitch, readSwitches, type StoredSwitch } from '@gateway/store/default-switches.js'
import type { ControlContext } from '../../platform/context.js'
import { commitAndPublish, edgesFollow } from '../../platform/edges/commit.js'
import type { App } from '../../platform/http/app-type.js'
import { NO_SUCH_BASEMAP, sendRefusal } from '../../platform/http/refusal.js'
import { countsOf, endsAt } from './default-switch-steps.js'
import { byCode } from './route-parts.js'

const NO_SWITCH = refuse('not_found', coded('switch_not_pending'))

/** Maximum numbers of the newest entries that the history returns. */
const [MAX_SPANS, MAX_SWITCHES] = [1_000, 100]

export function defaultSwitchRoutes(app: App, ctx: ControlContext): void {
  app.get(
    '/api/v1/admin/basemaps/:code/default-switch',
    {
      schema: {
        operationId: 'getDefaultSwitch',
        summary: 'Get the pending switch of the default version',
        description:
          'Returns the switch that has not ended, or 404 if no switch is pending. For a canary the response includes what the edges have ' +
          'counted so far, which they report every few seconds.',
        params: byCode,
        response: { 200: defaultSwitchSchema },
      },
    },
    async ({ params }, reply) => {
      const pending = await readPendingSwitch(ctx.sql, params.code)
      return pending === null ? sendRefusal(reply, NO_SWITCH) : toSwitch(pending)
    },
  )
  app.delete(
    '/api/v1/admin/basemaps/:code/default-switch',
    {
      schema: {
        operationId: 'cancelDefaultSwitch',
        summary: 'Cancel the pending switch of the default version',
        description:
          'Returns the cancelled switch, or 404 if no switch is pending. After a canary all tokens get the previous version again. The ' +
          'response comes when the edges have applied the change.',
        params: byCode,
        response: { 200: defaultSwitchSchema },
      },
    },
    async ({ params, admin }, reply) => {
      const { result: cancelled, revision } = await commitAndPublish(ctx, async (tx) => {
        const pending = await readPendingSwitch(tx, params.code)
        if (pending === null || !(await endSwitch(tx, pending.id, 'cancelled'))) return { result: null, changes: [] }
        const { version, at, status } = pending
        const isCanary = status === 'canary'
        const name = (await readBasemap(tx, params.code))?.name
        const detail = { name, version, at: at.toISOString(), ...(isCanary && { counts: countsOf(pending) }) }
        await insertAudit(tx, { ...admin, action: 'basemap.cancel-switch', subject: params.code, detail })
        return { result: pending, changes: isCanary ? [{ kind: 'basemap', key: params.code }] : [] }
      })
      await edgesFollow(ctx, revision)
      return cancelled === null ? sendRefusal(reply, NO_SWITCH) : toSwitch({ ...cancelled, status: 'cancelled' })
    },
  )
  app.get(
    '/api/v1/admin/basemaps/:code/default-history',
    {
      schema: {
        operationId: 'getDefaultHistory',
        summary: 'Get the history and the planned switches of the default version',
        description:
          `Returns the newest ${MAX_SPANS} spans and ${MAX_SWITCHES} switches. The parameter \`at\` and the \`TIME\` of a WMTS use this history. It ` +
          'begins when the gateway is upgraded to the first version that records it.',
        params: byCode,
        response: { 200: defaultHistorySchema },
      },
    },
    async ({ params: { code } }, reply) => {
      if ((await readBasemap(ctx.sql, code)) === null) return sendRefusal(reply, NO_SUCH_BASEMAP)
      const [spans, switches] = await Promise.all([
        readDefaultHistory(ctx.sql, code, MAX_SPANS),
        readSwitches(ctx.sql, code, MAX_SWITCHES),
      ])
      const items = spans.map(({ version, since, until }) => ({
        version,
        since: since.toISOString(),
        until: until?.toISOString() ?? null,
      }))
      return { items, switches: switches.map(toSwitch) }
    },
  )
}

export function toSwitch(one: StoredSwitch) {
  const { id, version, at, status, canary, startedAt, endedAt, beforeVersion, actor, createdAt } = one
  return {
    id,
    version,
    at: at.toISOString(),
    status,
    canary: canary && {
      ...canary,
      started_at: startedAt?.toISOString() ?? null,
      ends_at: startedAt && new Date(endsAt(one)).toISOString(),
      before_version: beforeVersion,
      ...countsOf(one),
    },
    ended_at: endedAt?.toISOString() ?? null,
    created_by: actor,
    created_at: createdAt.toISOString(),
  }
}
