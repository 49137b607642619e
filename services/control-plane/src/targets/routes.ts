import { listOf } from '@gateway/contracts/common.js'
import { targetBodySchema, targetSchema, targetTrialSchema } from '@gateway/contracts/target.js'
import { readTargets } from '@gateway/store/targets.js'
import { z } from 'zod'
import type { ControlContext } from '../context.js'
import { DestinationGuard } from '../deliveries/guard/guard.js'
import type { App } from '../http/app-type.js'
import { sendRefusal } from '../http/refusal.js'
import { saveTarget } from './save.js'
import { tryTarget } from './try.js'

export function targetRoutes(app: App, ctx: ControlContext): void {
  const guard = new DestinationGuard(ctx.settings)
  app.get(
    '/api/v1/admin/targets',
    {
      schema: {
        summary: 'Target systems, by code',
        description: 'Without their secrets; `has_secret` says whether messages to the target are signed.',
        response: { 200: listOf(targetSchema) },
      },
    },
    async () => {
      const items = await readTargets(ctx.sql)
      return { items, total: items.length }
    },
  )
  app.post(
    '/api/v1/admin/targets',
    {
      schema: {
        summary: 'Create or update a target system by its code',
        description:
          'Kind `http` needs `url`: http or https, without credentials in it, redirects are not followed. `mode` `notify` (the default) ' +
          'sends JSON; `upload` sends multipart/form-data with that JSON as part `event` and a zip as part `archive`, laid out like a scan ' +
          'source. Kind `directory` needs `path`, an existing directory. In mode `upload` (the default there) a version or vector ' +
          'appears in it whole, laid out like a scan source; in mode `notify` the JSON alone, as `{record id}.json`. `secret` signs each request (Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature` over the whole ' +
          'body): `whsec_` and base64, or any text, whose UTF-8 bytes are the key. It is never answered; left out it stays, empty it is removed. ' +
          'What is left out of `name` and `enabled` stays as it is, and begins as the code and true.',
        body: targetBodySchema,
        response: { 200: targetSchema },
      },
    },
    async ({ body, admin }, reply) => {
      const outcome = await saveTarget(ctx, guard, body, admin)
      return outcome.ok ? outcome.target : sendRefusal(reply, outcome)
    },
  )
  app.post(
    '/api/v1/admin/targets/:code/test',
    {
      // Waits for the receiver as long as a push would.
      config: { mayTakeLong: true },
      schema: {
        summary: 'Try a target once, without a record',
        description:
          'Sends the event `target.test` the way a push would go (with an empty archive in mode `upload`), or writes, renames and removes a ' +
          'file in the directory. A disabled target is tried too. Answers 200 whatever the receiver did; `delivered` tells.',
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
