import { listOf } from '@gateway/contracts/common.js'
import { acknowledgementFields } from '@gateway/contracts/edge.js'
import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import {
  rotateKeyBodySchema,
  signedStyleSchema,
  signedUrlBodySchema,
  signedUrlSchema,
  signingKeySchema,
} from '@gateway/contracts/signed-url.js'
import { insertAudit } from '@gateway/store/audit.js'
import { listQuery } from '@gateway/store/catalog/list-query.js'
import { READER_STYLES } from '@gateway/store/catalog/reader-lists.js'
import { listSigningKeys, rotateSigningKey, SIGNING_KEY_LISTING } from '@gateway/store/signing-keys.js'
import { readStyle } from '@gateway/store/styles.js'
import { z } from 'zod'
import type { ControlContext } from '../platform/context.js'
import { commitAndConfirm } from '../platform/edges/commit.js'
import type { KnownEdges } from '../platform/edges/known-edges.js'
import type { App } from '../platform/http/app-type.js'
import { sendRefusal } from '../platform/http/refusal.js'
import type { ServiceGate } from '../platform/service-access/token-gate.js'
import { signStyleUrl, signUrl } from './sign.js'

const OUTSIDE_AREA = refuse('outside_bounds', coded('token_outside'))
const NO_SUCH_KEY = refuse('not_found', coded('signing_key_not_found'))

/** Default grace in seconds. */
const DEFAULT_GRACE = 7 * 86_400

const SIGNED =
  'Returns addresses of tiles, TileJSON and, if the version is an archive, of that archive, which need no token until they expire. `exp` ' +
  '(seconds since 1970) and `sig` (HMAC-SHA-256) in the query give access only to the signed resources. Every edge verifies them by itself. ' +
  'Single addresses cannot be revoked: they end when they expire, or with the signing key. An `expires_at` in the past is accepted, and the ' +
  'addresses are then expired at once. Returns 404 if the basemap has nothing that is served. With `style_code` the response has the address ' +
  'of a style. It opens the style with its sprites, glyphs, tiles, TileJSON and vectors; the parameter `style` names the style.'

export function signingRoutes(app: App, ctx: ControlContext, edges: KnownEdges, gate: ServiceGate): void {
  app.post(
    '/api/v1/admin/signed-urls',
    {
      schema: {
        operationId: 'signUrl',
        summary: 'Sign URLs of a basemap, or a style',
        description: SIGNED,
        body: signedUrlBodySchema,
        response: { 200: z.union([signedUrlSchema, signedStyleSchema]) },
      },
    },
    async ({ body, admin }, reply) => {
      const { basemap_code: basemap, style_code: style } = body
      if (style !== undefined) {
        const outcome = await signStyleUrl(ctx, { ...body, style_code: style }, null)
        if (!outcome.ok) return sendRefusal(reply, outcome)
        const detail = { name: outcome.name, style: true, expires_at: outcome.signed.expires_at }
        await ctx.sql.begin((tx) => insertAudit(tx, { ...admin, action: 'signed-url.create', subject: style, detail }))
        return outcome.signed
      }
      const outcome = await signUrl(ctx, { ...body, basemap_code: basemap ?? '' }, null)
      if (!outcome.ok) return sendRefusal(reply, outcome)
      const { basemap_code: subject, version, expires_at, bounds } = outcome.signed
      const detail = { name: outcome.name, version, expires_at, bounds }
      await ctx.sql.begin((tx) => insertAudit(tx, { ...admin, action: 'signed-url.create', subject, detail }))
      return outcome.signed
    },
  )
  app.post(
    '/api/v1/catalog/signed-urls',
    {
      onRequest: gate.require('sign'),
      schema: {
        operationId: 'signUrlByToken',
        summary: 'Sign URLs of a basemap or a style, by a service token of scope `sign`',
        description:
          `${SIGNED} Returns 403 if the basemap, or a source of the style, is not granted to the token, whether or not it exists. Returns 400 if ` +
          'the addresses would outlive the token. `bounds` are cut to those of the token, which are the default. Returns 403 if the two have no ' +
          'area in common, and for a style if the token has bounds.',
        body: signedUrlBodySchema,
        response: { 200: z.union([signedUrlSchema, signedStyleSchema]) },
      },
    },
    async (request, reply) => {
      const { body, serviceToken } = request
      const { basemap_code: basemap = '', style_code: style } = body
      if (style !== undefined) {
        const stored = style.includes('\0') ? null : await readStyle(ctx.sql, style)
        const wanted = stored === null ? READER_STYLES.wantedByCode(style) : READER_STYLES.wanted(stored)
        if (!gate.grants(request, reply, wanted, 'sign')) return reply
        // A signature of a style has no bounds, so it would reach further than the token.
        if (serviceToken.limits?.area) return sendRefusal(reply, OUTSIDE_AREA)
        const outcome = await signStyleUrl(ctx, { ...body, style_code: style }, serviceToken.expiresAtMs)
        return outcome.ok ? outcome.signed : sendRefusal(reply, outcome)
      }
      if (!gate.grants(request, reply, { kind: 'basemap', code: basemap }, 'sign')) return reply
      const outcome = await signUrl(
        ctx,
        { ...body, basemap_code: basemap },
        serviceToken.expiresAtMs,
        serviceToken.limits?.area ?? null,
      )
      return outcome.ok ? outcome.signed : sendRefusal(reply, outcome)
    },
  )
  app.get(
    '/api/v1/admin/signing-keys',
    {
      schema: {
        operationId: 'listSigningKeys',
        summary: 'List the keys that sign URLs, newest first',
        description: 'The response has no secrets. It has one key, or two during a rotation.',
        querystring: listQuery(SIGNING_KEY_LISTING, {}),
        response: { 200: listOf(signingKeySchema) },
      },
    },
    ({ query }) => listSigningKeys(ctx.sql, query),
  )
  app.get(
    '/api/v1/admin/signing-keys/:id',
    {
      schema: {
        operationId: 'getSigningKey',
        summary: 'Get a key that signs URLs',
        description: 'The response has no secret. Returns 404 when the addresses of the key have ended.',
        params: z.object({ id: z.string() }),
        response: { 200: signingKeySchema },
      },
    },
    async ({ params }, reply) => {
      const { items } = await listSigningKeys(ctx.sql)
      return items.find(({ id }) => id === params.id) ?? sendRefusal(reply, NO_SUCH_KEY)
    },
  )
  app.post(
    '/api/v1/admin/signing-keys/rotate',
    {
      config: { mayTakeLong: true },
      schema: {
        operationId: 'rotateSigningKey',
        summary: 'Replace the signing key',
        description:
          'Addresses that the present key has signed stay valid for `grace_seconds`; those of an earlier key end now. The new key signs when ' +
          'every edge knows it (`signs_from`), so no address fails in between. `grace_seconds: 0` ends every signed URL at once. ' +
          '`confirmed` and `pending` name the edge processes that refuse the old addresses and those that may still accept them.',
        body: rotateKeyBodySchema,
        response: { 200: z.object({ ...acknowledgementFields, items: z.array(signingKeySchema) }) },
      },
    },
    async ({ body, admin }) => {
      const grace = body.grace_seconds ?? DEFAULT_GRACE
      const { result, ...acknowledged } = await commitAndConfirm(ctx, edges, async (tx) => {
        await rotateSigningKey(tx, grace, ctx.settings.tokenStaleSeconds)
        const { items } = await listSigningKeys(tx)
        const subject = items[0]?.id ?? ''
        await insertAudit(tx, { ...admin, action: 'signing-key.rotate', subject, detail: { grace_seconds: grace } })
        return { result: items, changes: [{ kind: 'signing_key', key: '' }] }
      })
      return { items: result, ...acknowledged }
    },
  )
}
