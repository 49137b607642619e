import { toAdminBasemap } from '@gateway/catalog/basemap.js'
import { adminBasemapSchema, CURRENT_VERSION, defaultVersionBodySchema } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { insertAudit } from '@gateway/store/audit.js'
import { readBasemap, type StoredBasemap, setDefaultVersion } from '@gateway/store/basemaps.js'
import { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import { commitAndPublish, edgesFollow } from '../../platform/edges/commit.js'
import type { AdminIdentity, App } from '../../platform/http/app-type.js'
import { sendRefusal } from '../../platform/http/refusal.js'

const NO_SUCH_BASEMAP = refuse('not_found', coded('basemap_not_found'))
const NO_SUCH_VERSION = refuse('not_found', coded('version_not_of_this_basemap'))
const ALIAS = refuse('invalid_parameters', coded('version_is_alias', { alias: CURRENT_VERSION }))
const UNAVAILABLE = refuse('invalid_parameters', coded('version_not_scanned'))

const WITHDRAWN = refuse('invalid_parameters', coded('version_restore_first'))

export function defaultVersionRoute(app: App, ctx: ControlContext): void {
  app.post(
    '/api/v1/admin/basemaps/:code/default-version',
    {
      schema: {
        operationId: 'setDefaultVersion',
        summary: 'Set what `current` and the route without a version mean',
        description:
          'It stays until changed, whatever later scans find. While it is withdrawn, the highest version that is available and not withdrawn ' +
          'replaces it. Answers when the edges have followed.',
        params: z.object({ code: z.string() }),
        body: defaultVersionBodySchema,
        response: { 200: adminBasemapSchema },
      },
    },
    async ({ params, body, admin }, reply) => {
      const outcome = await switchDefault(ctx, params.code, body.version, admin)
      return outcome.ok ? toAdminBasemap(outcome.basemap) : sendRefusal(reply, outcome)
    },
  )
}

async function switchDefault(
  ctx: ControlContext,
  code: string,
  version: string,
  admin: AdminIdentity,
): Promise<{ readonly ok: true; readonly basemap: StoredBasemap } | Refusal> {
  if (version === CURRENT_VERSION) return ALIAS
  const basemap = await readBasemap(ctx.sql, code)
  if (basemap === null) return NO_SUCH_BASEMAP
  const wanted = basemap.versions.find((known) => known.version === version)
  if (wanted === undefined) return NO_SUCH_VERSION
  if (!wanted.available) return UNAVAILABLE
  if (wanted.withdrawn) return WITHDRAWN
  const { result, revision } = await commitAndPublish(ctx, async (tx) => {
    await setDefaultVersion(tx, code, version)
    const detail = {
      name: basemap.name,
      before: { default_version: basemap.defaultVersion },
      after: { default_version: version },
    }
    await insertAudit(tx, { ...admin, action: 'basemap.default-version', subject: code, detail })
    return { result: await readBasemap(tx, code), changes: [{ kind: 'basemap', key: code }] }
  })
  await edgesFollow(ctx, revision)
  return result === null ? NO_SUCH_BASEMAP : { ok: true, basemap: result }
}
