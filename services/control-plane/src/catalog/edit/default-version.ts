import {
  CURRENT_VERSION,
  defaultSwitchSchema,
  defaultVersionBodySchema,
  switchedBasemapSchema,
} from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { insertAudit } from '@gateway/store/audit.js'
import { readBasemap, type StoredBasemap, setDefaultVersion } from '@gateway/store/basemaps.js'
import { toAdminBasemap } from '@gateway/store/catalog/basemap.js'
import type { Queryable } from '@gateway/store/connect.js'
import { endSwitch, insertSwitch, readPendingSwitch, type StoredSwitch } from '@gateway/store/default-switches.js'
import type { ControlContext } from '../../platform/context.js'
import { commitAndPublish, edgesFollow } from '../../platform/edges/commit.js'
import type { AdminIdentity, App } from '../../platform/http/app-type.js'
import { sendRefusal } from '../../platform/http/refusal.js'
import { byCode } from './route-parts.js'

const NO_SUCH_BASEMAP = refuse('not_found', coded('basemap_not_found'))
const NO_SUCH_VERSION = refuse('not_found', coded('version_not_of_this_basemap'))
const ALIAS = refuse('invalid_parameters', coded('version_is_alias', { alias: CURRENT_VERSION }))
const UNAVAILABLE = refuse('invalid_parameters', coded('version_not_scanned'))
const WITHDRAWN = refuse('invalid_parameters', coded('version_restore_first'))
const PASSED = refuse('invalid_parameters', coded('switch_time_passed'))
const PENDING = refuse('conflict', coded('switch_pending'))
const NO_SWITCH = refuse('not_found', coded('switch_not_pending'))

export function defaultVersionRoute(app: App, ctx: ControlContext): void {
  app.post(
    '/api/v1/admin/basemaps/:code/default-version',
    {
      schema: {
        operationId: 'setDefaultVersion',
        summary: 'Set what `current` and the route without a version mean',
        description:
          'It stays until changed, whatever later scans find. While it is withdrawn, the highest version that is available and not withdrawn ' +
          'replaces it. Answers when the edges have followed. With `at` nothing changes now: `pending_switch` names the switch, which happens at ' +
          'that time and survives restarts; 409 if one is pending already. If the version cannot become the default then, the switch fails. The ' +
          'audit log and the event `basemap.default.switched` or `basemap.default.switch_failed` tell the outcome.',
        params: byCode,
        body: defaultVersionBodySchema,
        response: { 200: switchedBasemapSchema },
      },
    },
    async ({ params, body, admin }, reply) => {
      const { version, at } = body
      if (at !== undefined && Date.parse(at) <= ctx.now()) return sendRefusal(reply, PASSED)
      const found = await switchable(ctx.sql, params.code, version)
      if (!found.ok) return sendRefusal(reply, found)
      if (at !== undefined && !(await planSwitch(ctx, found.basemap, version, new Date(at), admin)))
        return sendRefusal(reply, PENDING)
      if (at === undefined) await switchDefault(ctx, found.basemap, version, admin)
      const [basemap, pending] = [
        await readBasemap(ctx.sql, params.code),
        await readPendingSwitch(ctx.sql, params.code),
      ]
      if (basemap === null) return sendRefusal(reply, NO_SUCH_BASEMAP)
      return { ...toAdminBasemap(basemap), pending_switch: pending && toSwitch(pending) }
    },
  )
  app.get(
    '/api/v1/admin/basemaps/:code/default-switch',
    {
      schema: {
        operationId: 'getDefaultSwitch',
        summary: 'The pending switch of the default version',
        description: '404 if none is pending.',
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
        description: 'Returns the switch that does not happen; 404 if none is pending.',
        params: byCode,
        response: { 200: defaultSwitchSchema },
      },
    },
    async ({ params, admin }, reply) => {
      const cancelled = await ctx.sql.begin(async (tx) => {
        const pending = await readPendingSwitch(tx, params.code)
        if (pending === null || !(await endSwitch(tx, pending.id, 'cancelled'))) return null
        const detail = { version: pending.version, at: pending.at.toISOString() }
        await insertAudit(tx, { ...admin, action: 'basemap.cancel-switch', subject: params.code, detail })
        return pending
      })
      return cancelled === null ? sendRefusal(reply, NO_SWITCH) : toSwitch(cancelled)
    },
  )
}

function toSwitch({ id, version, at, actor, createdAt }: StoredSwitch) {
  return { id, version, at: at.toISOString(), created_by: actor, created_at: createdAt.toISOString() }
}

/** Whether a version may become the default now. */
export async function switchable(
  sql: Queryable,
  code: string,
  version: string,
): Promise<{ readonly ok: true; readonly basemap: StoredBasemap } | Refusal> {
  if (version === CURRENT_VERSION) return ALIAS
  const basemap = await readBasemap(sql, code)
  if (basemap === null) return NO_SUCH_BASEMAP
  const wanted = basemap.versions.find((known) => known.version === version)
  if (wanted === undefined) return NO_SUCH_VERSION
  if (!wanted.available) return UNAVAILABLE
  return wanted.withdrawn ? WITHDRAWN : { ok: true, basemap }
}

async function switchDefault(
  ctx: ControlContext,
  { code, name, defaultVersion }: StoredBasemap,
  version: string,
  admin: AdminIdentity,
): Promise<void> {
  const { revision } = await commitAndPublish(ctx, async (tx) => {
    await setDefaultVersion(tx, code, version)
    const detail = { name, before: { default_version: defaultVersion }, after: { default_version: version } }
    await insertAudit(tx, { ...admin, action: 'basemap.default-version', subject: code, detail })
    return { result: null, changes: [{ kind: 'basemap', key: code }] }
  })
  await edgesFollow(ctx, revision)
}

/** false: a switch is pending already. */
async function planSwitch(
  { sql }: ControlContext,
  { code, name }: StoredBasemap,
  version: string,
  at: Date,
  admin: AdminIdentity,
): Promise<boolean> {
  return await sql.begin(async (tx) => {
    const { actor, address } = admin
    if ((await insertSwitch(tx, { basemapCode: code, version, at, actor, address })) === null) return false
    const detail = { name, version, at: at.toISOString() }
    await insertAudit(tx, { ...admin, action: 'basemap.plan-switch', subject: code, detail })
    return true
  })
}
