import { CURRENT_VERSION } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { type PreviewLink, previewLinkBodySchema, previewLinkSchema } from '@gateway/contracts/token.js'
import { createToken, tokenDigest, tokenPrefix } from '@gateway/core/access/token-format.js'
import { insertAudit } from '@gateway/store/audit.js'
import { isOffered, readBasemap } from '@gateway/store/basemaps.js'
import { insertToken, pruneLinkTokens } from '@gateway/store/tokens.js'
import type { z } from 'zod'
import type { ControlContext } from '../platform/context.js'
import { commitAndPublish } from '../platform/edges/commit.js'
import type { AdminIdentity, App } from '../platform/http/app-type.js'
import { NO_SUCH_BASEMAP, NO_SUCH_VERSION, sendRefusal } from '../platform/http/refusal.js'

const WITHDRAWN = refuse('invalid_parameters', coded('version_withdrawn'))
const HELD = refuse('invalid_parameters', coded('version_held'))
const OTHER_GRID = refuse('invalid_parameters', coded('preview_grid'))

/** Creates links to a map for people without an account. */
export function previewLinkRoute(app: App, ctx: ControlContext): void {
  app.post(
    '/api/v1/admin/preview-links',
    {
      config: { ifUnknown: 'preview_lost' },
      schema: {
        operationId: 'createPreviewLink',
        summary: 'Create a link to a map for people without an account',
        description:
          'The page behind the link shows one basemap until the link expires. Anyone who has the link can read all versions of that basemap. ' +
          'The token follows the `#`, which browsers do not send to a server. Lists of tokens omit it unless `kind=preview` asks for it; it is ' +
          'disabled like any other.',
        body: previewLinkBodySchema,
        response: { 200: previewLinkSchema },
      },
    },
    async ({ body, admin }, reply) => {
      const outcome = await createPreviewLink(ctx, body, admin)
      return outcome.ok ? outcome.link : sendRefusal(reply, outcome)
    },
  )
}

async function createPreviewLink(
  ctx: ControlContext,
  { basemap_code: code, version, expires_in_seconds: seconds }: z.output<typeof previewLinkBodySchema>,
  admin: AdminIdentity,
): Promise<{ readonly ok: true; readonly link: PreviewLink } | Refusal> {
  const basemap = await readBasemap(ctx.sql, code)
  if (basemap === null) return NO_SUCH_BASEMAP
  const label = version === undefined || version === CURRENT_VERSION ? basemap.defaultVersion : version
  const shown = basemap.versions.find((one) => one.version === label)
  if (shown === undefined) return NO_SUCH_VERSION
  if (shown.review) return HELD
  if (shown.withdrawn || !isOffered(basemap)) return WITHDRAWN
  if (shown.tileMatrixSet !== 'WebMercatorQuad') return OTHER_GRID
  const plaintext = createToken()
  const digest = tokenDigest(plaintext)
  const { result } = await commitAndPublish(ctx, async (tx) => {
    await pruneLinkTokens(tx)
    const token = await insertToken(tx, {
      name: `Preview of ${basemap.name}`,
      kind: 'preview',
      prefix: tokenPrefix(plaintext),
      digest,
      basemapCodes: [code],
      vectorCodes: [],
      scopes: ['read'],
      expiresAt: new Date(ctx.now() + seconds * 1000),
    })
    const { id, name, prefix, expires_at } = token
    const detail = { name, basemap: code, ...(version !== undefined && { version }), prefix, expires_at }
    await insertAudit(tx, { ...admin, action: 'preview-link.create', subject: id, detail })
    return { result: token, changes: [{ kind: 'token', key: digest.toString('hex') }] }
  })
  const place = new URLSearchParams({ code, ...(version !== undefined && { version }), token: plaintext })
  const url = `${ctx.settings.apiBaseUrl}/map/#${place}`
  return { ok: true, link: { id: result.id, url, expires_at: result.expires_at ?? '' } }
}
