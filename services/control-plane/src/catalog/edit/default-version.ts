import { defaultVersionBodySchema, switchedBasemapSchema } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { instantMs } from '@gateway/contracts/instant.js'
import { coded } from '@gateway/contracts/messages.js'
import { insertAudit } from '@gateway/store/audit.js'
import { readBasemap, type StoredBasemap, setDefaultVersion } from '@gateway/store/basemaps.js'
import { toAdminBasemap } from '@gateway/store/catalog/basemap.js'
import { endSwitch, insertSwitch, type NewSwitch, readPendingSwitch } from '@gateway/store/default-switches.js'
import type { ControlContext } from '../../platform/context.js'
import { commitAndPublish, edgesFollow } from '../../platform/edges/commit.js'
import type { AdminIdentity, App } from '../../platform/http/app-type.js'
import { NO_SUCH_BASEMAP, sendRefusal } from '../../platform/http/refusal.js'
import { checkNewDefault } from './check-new-default.js'
import { toSwitch } from './default-switch-routes.js'
import { beginSwitch } from './default-switch-steps.js'
import { byCode } from './route-parts.js'

const PASSED = refuse('invalid_parameters', coded('switch_time_passed'))
const PENDING = refuse('conflict', coded('switch_pending'))
const IS_DEFAULT = refuse('invalid_parameters', coded('canary_of_default'))

export function defaultVersionRoute(app: App, ctx: ControlContext): void {
  app.post(
    '/api/v1/admin/basemaps/:code/default-version',
    {
      schema: {
        operationId: 'setDefaultVersion',
        summary: 'Set the default version of a basemap',
        description:
          'The default version is the one that `current` and the route without a version mean. It stays until it is changed, whatever later ' +
          'scans find. While it is withdrawn, the highest version that is available and not withdrawn replaces it. The response comes when the ' +
          'edges have applied the change. With `at` nothing changes now: `pending_switch` names the switch, which happens at that time and ' +
          'survives restarts. The request returns 409 if another switch has not ended. If the version cannot become the default at that time, ' +
          'the switch fails. With `canary` the given share of the tokens, always the same ones, gets the version first, and after the given ' +
          'minutes it becomes the default. If its 404s or 5xx per request exceed those of the previous version by more than CANARY_TOLERANCE, ' +
          'all tokens get the previous version again. The audit log and the events `basemap.default.*` report the outcome. A request without ' +
          '`at` and `canary` cancels a running canary.',
        params: byCode,
        body: defaultVersionBodySchema,
        response: { 200: switchedBasemapSchema },
      },
    },
    async ({ params, body, admin }, reply) => {
      const { version, at, canary } = body
      if (at !== undefined && Date.parse(at) <= ctx.now()) return sendRefusal(reply, PASSED)
      const found = await checkNewDefault(ctx.sql, params.code, version)
      if (!found.ok) return sendRefusal(reply, found)
      const refused =
        at === undefined && canary === undefined
          ? await switchDefault(ctx, found.basemap, version, admin)
          : await planSwitch(
              ctx,
              found.basemap,
              { version, at: at === undefined ? null : new Date(instantMs(at) as number), canary: canary ?? null },
              admin,
            )
      if (refused !== null) return sendRefusal(reply, refused)
      const [basemap, pending] = [
        await readBasemap(ctx.sql, params.code),
        await readPendingSwitch(ctx.sql, params.code),
      ]
      if (basemap === null) return sendRefusal(reply, NO_SUCH_BASEMAP)
      return { ...toAdminBasemap(basemap), pending_switch: pending && toSwitch(pending) }
    },
  )
}

async function switchDefault(
  ctx: ControlContext,
  { code, name, defaultVersion }: StoredBasemap,
  version: string,
  admin: AdminIdentity,
): Promise<null> {
  const { revision } = await commitAndPublish(ctx, async (tx) => {
    const running = await readPendingSwitch(tx, code)
    if (running?.status === 'canary') await endSwitch(tx, running.id, 'cancelled')
    await setDefaultVersion(tx, code, version)
    const detail = { name, before: { default_version: defaultVersion }, after: { default_version: version } }
    await insertAudit(tx, { ...admin, action: 'basemap.default-version', subject: code, detail })
    return { result: null, changes: [{ kind: 'basemap', key: code }] }
  })
  await edgesFollow(ctx, revision)
  return null
}

/** Plans a switch. `at` null: its canary begins now. */
async function planSwitch(
  ctx: ControlContext,
  { code, name, defaultVersion }: StoredBasemap,
  { version, at, canary }: Pick<NewSwitch, 'version' | 'canary'> & { readonly at: Date | null },
  admin: AdminIdentity,
): Promise<Refusal | null> {
  if (at === null && defaultVersion === version) return IS_DEFAULT
  const { result, revision } = await commitAndPublish(ctx, async (tx) => {
    const { actor, address } = admin
    const when = at ?? new Date(ctx.now())
    const planned = await insertSwitch(tx, { basemapCode: code, version, at: when, actor, address, canary })
    if (planned === null) return { result: PENDING, changes: [] }
    if (at === null) return { result: null, changes: await beginSwitch(tx, planned) }
    const detail = { name, version, at: when.toISOString(), ...(canary && { canary }) }
    await insertAudit(tx, { ...admin, action: 'basemap.plan-switch', subject: code, detail })
    return { result: null, changes: [] }
  })
  await edgesFollow(ctx, revision)
  return result
}
