import { listOf } from '@gateway/contracts/common.js'
import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { hasRole, type Role } from '@gateway/contracts/operator.js'
import {
  savedTargetSchema,
  TARGET_KINDS,
  TARGET_MODES,
  type Target,
  targetBodySchema,
  targetSchema,
  targetTrialSchema,
} from '@gateway/contracts/target.js'
import { withWarnings } from '@gateway/contracts/warning.js'
import { DestinationGuard } from '@gateway/core/outgoing/guard.js'
import { flag, listQuery, text } from '@gateway/store/catalog/list-query.js'
import { listTargets, readTargets, TARGET_LISTING } from '@gateway/store/targets.js'
import { z } from 'zod'
import { withoutSecrets } from '../../deliveries/http/texts.js'
import type { ControlContext } from '../../platform/context.js'
import { directoryWarnings } from '../../platform/files/path-warnings.js'
import type { App } from '../../platform/http/app-type.js'
import { CREATES_ONLY, createsOnly } from '../../platform/http/creates-only.js'
import { sendRefusal } from '../../platform/http/refusal.js'
import { saveTarget } from './save.js'
import { tryTarget } from './try.js'

/** Returns a target without the secrets in its URL if the role may not change it. */
function shownTo(role: Role, target: Target): Target {
  return hasRole(role, 'admin') || target.url === null ? target : { ...target, url: withoutSecrets(target.url) }
}

export function targetRoutes(app: App, ctx: ControlContext): void {
  const guard = new DestinationGuard(ctx.settings)
  app.get(
    '/api/v1/admin/targets',
    {
      schema: {
        operationId: 'listTargets',
        summary: 'List target systems, by code',
        description:
          'The response has no secrets; `has_secret` is true if messages to the target are signed. Only admins see the query of a `url`, in which ' +
          'receivers often expect a key.',
        querystring: listQuery(TARGET_LISTING, {
          kind: z.enum(TARGET_KINDS),
          mode: z.enum(TARGET_MODES),
          enabled: flag,
        }),
        response: { 200: listOf(targetSchema) },
      },
    },
    async ({ query, operator: { role } }) => {
      const { items, total } = await listTargets(ctx.sql, query)
      return { items: items.map((target) => shownTo(role, target)), total }
    },
  )
  app.get(
    '/api/v1/admin/targets/:code',
    {
      schema: {
        operationId: 'getTarget',
        summary: 'Get a target system',
        description: 'The response never has the secret. Only admins see the query of its `url`.',
        params: z.object({ code: text }),
        response: { 200: targetSchema },
      },
    },
    async ({ params, operator: { role } }, reply) => {
      const [target] = await readTargets(ctx.sql, params.code)
      return target === undefined
        ? sendRefusal(reply, refuse('not_found', coded('target_not_found')))
        : shownTo(role, target)
    },
  )
  app.post(
    '/api/v1/admin/targets',
    {
      schema: {
        operationId: 'saveTarget',
        summary: 'Create or update a target system by its code',
        description:
          'Kind `http` needs `url`: http or https, without credentials in it. Redirects are not followed. `mode` `notify` (the default) sends ' +
          'JSON. `upload` sends multipart/form-data with that JSON as part `event` and a zip as part `archive`, laid out like a scan source. ' +
          'Kind `directory` needs `path`, a directory (`warnings` say if it does not exist or cannot be written to). In mode `upload` (the ' +
          'default there) a complete version or vector appears in it, laid out like a scan source; in mode `notify` only the JSON, as `{record ' +
          'id}.json`. Kind `bucket` needs `url`, `s3://bucket/prefix` of the storage at S3_ENDPOINT, and has the same two modes as a ' +
          'directory. An archive or a vector is stored unchanged, and a version whose tiles lie in folders as one PMTiles object (in ' +
          'geographic grids as its tiles, the metadata last). Kind `purge` is a cache in front, at `url`. A message `cache.purge` names the ' +
          'tiles that it must remove, whenever a version is found, changed, withdrawn or forgotten, or a basemap is withdrawn or changed. ' +
          '`secret` signs each request (Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature` over the whole body). It is ' +
          'base64 with or without `whsec_`, as the reference library reads it, or any other text, whose UTF-8 bytes are the key (`format: raw` ' +
          'there). A secret that an earlier version stored keeps its meaning until it is changed. It is never returned. If it is omitted, the present secret stays; ' +
          'an empty one removes it. If `name` or `enabled` is omitted, a known target keeps its value, and a new target gets its code as the ' +
          `name and is enabled. ${CREATES_ONLY}`,
        body: targetBodySchema,
        response: { 200: savedTargetSchema },
      },
    },
    async (request, reply) => {
      const outcome = await saveTarget(ctx, guard, request.body, request.admin, createsOnly(request))
      if (!outcome.ok) return sendRefusal(reply, outcome)
      const { path } = outcome.target
      return withWarnings(outcome.target, path === null ? [] : await directoryWarnings('path', path, 'write'))
    },
  )
  app.post(
    '/api/v1/admin/targets/:code/test',
    {
      // Waits for the receiver as long as a push would.
      config: { mayTakeLong: true },
      schema: {
        operationId: 'testTarget',
        summary: 'Try a target once, without a record',
        description:
          'Sends the event `target.test` as a push would be sent (with an empty archive in mode `upload`), or writes, renames and removes a ' +
          'file in the directory. A disabled target is tried too. Returns 200 whatever the receiver did; `delivered` has the outcome.',
        params: z.object({ code: z.string() }),
        response: { 200: targetTrialSchema },
      },
    },
    async ({ params, admin }, reply) => {
      const outcome = await tryTarget(ctx, guard, params.code, admin)
      return outcome.ok ? outcome.trial : sendRefusal(reply, outcome)
    },
  )
}
