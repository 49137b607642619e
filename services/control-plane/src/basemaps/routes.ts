import { adminBasemapSchema, CURRENT_VERSION, defaultVersionBodySchema } from '@gateway/contracts/basemap.js'
import { listOf } from '@gateway/contracts/common.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { insertAudit } from '@gateway/store/audit.js'
import { readBasemap, readBasemaps, type StoredBasemap, setDefaultVersion } from '@gateway/store/basemaps.js'
import { z } from 'zod'
import { type ControlContext, commitAndPublish, edgesFollow } from '../context.js'
import type { AdminIdentity, App } from '../http/app-type.js'
import { sendRefusal } from '../http/refusal.js'
import { toAdminBasemap } from '../resources/basemap.js'
import { search, searchQuery } from './search.js'

const NO_SUCH_BASEMAP = refuse('not_found', 'no such basemap')
const NO_SUCH_VERSION = refuse('not_found', 'this basemap has no such version')
const ALIAS = refuse(
  'invalid_parameters',
  `body.version: "${CURRENT_VERSION}" is the alias of the default version itself`,
)
const UNAVAILABLE = refuse(
  'invalid_parameters',
  'body.version: this version is not available; the last scan did not find it',
)

export function basemapRoutes(app: App, ctx: ControlContext): void {
  app.get(
    '/api/v1/admin/basemaps',
    {
      schema: {
        summary: 'Basemaps with their versions',
        querystring: searchQuery('code or name'),
        response: { 200: listOf(adminBasemapSchema) },
      },
    },
    async ({ query }) => {
      const { page, total } = search(await readBasemaps(ctx.sql, null), query, ({ code, name }) => [code, name])
      return { items: page.map(toAdminBasemap), total }
    },
  )
  app.post(
    '/api/v1/admin/basemaps/:code/default-version',
    {
      schema: {
        summary: 'Set what `current` and the route without a version mean',
        description: 'It stays until changed, whatever later scans find. The answer comes when the edges follow.',
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
  const { result, revision } = await commitAndPublish(ctx, async (tx) => {
    await setDefaultVersion(tx, code, version)
    const detail = { version, before: basemap.defaultVersion }
    await insertAudit(tx, { ...admin, action: 'basemap.default-version', subject: code, detail })
    return { result: await readBasemap(tx, code), changes: [{ kind: 'basemap', key: code }] }
  })
  await edgesFollow(ctx, revision)
  return result === null ? NO_SUCH_BASEMAP : { ok: true, basemap: result }
}
