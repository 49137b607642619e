import { setTimeout as sleep } from 'node:timers/promises'
import { insertAudit } from '@gateway/store/audit.js'
import { setDefaultVersion } from '@gateway/store/basemaps.js'
import { endSwitch, readNextSwitch, type StoredSwitch } from '@gateway/store/default-switches.js'
import { insertEvents } from '@gateway/store/deliveries.js'
import type { BackgroundLoop } from '../../platform/background.js'
import type { ControlContext } from '../../platform/context.js'
import { commitAndPublish } from '../../platform/edges/commit.js'
import { traceToKeep } from '../../platform/trace.js'
import { switchable } from './default-version.js'

/** How often the next switch is read: one that was planned by another control plane is known so soon. */
const LOOK_EVERY_MS = 500

/** Makes versions the default when their time has come. Every control plane tries; the first one to end a pending switch makes it. */
export const switchLoop: BackgroundLoop = {
  name: 'switches of default versions',
  async run(ctx) {
    while (!ctx.shutdown.aborted) {
      const waitMs = await makeNextSwitch(ctx).catch((error: Error) => {
        ctx.log.warn({ err: error.message }, 'a switch of a default version cannot be made now')
        return LOOK_EVERY_MS
      })
      await sleep(waitMs, undefined, { signal: ctx.shutdown }).catch(() => {})
    }
  },
}

/** Makes the switch whose time has come first, if there is one; answers after how many milliseconds to look again. */
export async function makeNextSwitch(ctx: ControlContext): Promise<number> {
  const next = await readNextSwitch(ctx.sql)
  if (next === null) return LOOK_EVERY_MS
  const leftMs = next.at.getTime() - ctx.now()
  if (leftMs > 0) return Math.min(leftMs, LOOK_EVERY_MS)
  await makeSwitch(ctx, next)
  return 0
}

async function makeSwitch(ctx: ControlContext, planned: StoredSwitch): Promise<void> {
  const { id, basemapCode: code, version, actor, address } = planned
  await commitAndPublish(ctx, async (tx) => {
    const found = await switchable(tx, code, version)
    if (!(await endSwitch(tx, id, found.ok ? 'done' : 'failed'))) return { result: null, changes: [] }
    const at = planned.at.toISOString()
    const reason = found.ok ? {} : { reason: found.message }
    const change = found.ok
      ? { before: { default_version: found.basemap.defaultVersion }, after: { default_version: version } }
      : { version, ...reason }
    const action = found.ok ? 'basemap.default-version' : 'basemap.switch-failed'
    await insertAudit(tx, { actor, address, action, subject: code, detail: { planned_at: at, ...change } })
    const event = found.ok ? 'basemap.default.switched' : 'basemap.default.switch_failed'
    const body = { basemap_code: code, version, actor, at, ...reason }
    await insertEvents(tx, { event, basemapCode: code, version, body }, traceToKeep())
    if (!found.ok) return { result: null, changes: [] }
    await setDefaultVersion(tx, code, version)
    return { result: null, changes: [{ kind: 'basemap', key: code }] }
  })
}
