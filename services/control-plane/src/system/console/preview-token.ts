import { type PreviewToken, previewTokenBodySchema, previewTokenSchema } from '@gateway/contracts/console.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { createToken, tokenDigest, tokenPrefix } from '@gateway/core/access/token-format.js'
import { readBasemaps } from '@gateway/store/basemaps.js'
import { readStyle, readStyleDocuments } from '@gateway/store/styles.js'
import { insertPreviewToken } from '@gateway/store/tokens.js'
import { readVector } from '@gateway/store/vectors.js'
import { dependenciesOf } from '@gateway/styles/dependencies.js'
import type { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import type { App } from '../../platform/http/app-type.js'
import { NO_SUCH_STYLE, sendRefusal } from '../../platform/http/refusal.js'

/** Long enough to look around on a map, and short enough that a leaked token soon expires. */
const LIFETIME_MS = 15 * 60_000

type Issued = { readonly ok: true; readonly preview: PreviewToken } | Refusal

/** Tiles and downloads accept only service tokens, so the console gets one. */
export function previewTokenRoute(app: App, ctx: ControlContext): void {
  app.post(
    '/api/v1/admin/preview-token',
    {
      schema: {
        operationId: 'issuePreviewToken',
        summary: 'Issue a short-lived token for a preview of basemaps, vectors or one style',
        description:
          'For the console: the token reads these basemaps and vectors, or all parts of that style, for 15 minutes, with the header ' +
          '`X-Access-Token`. Such tokens are not listed, counted or audited, since they give an administrator no further access; they are ' +
          'removed once expired.',
        body: previewTokenBodySchema,
        response: { 200: previewTokenSchema },
      },
    },
    async ({ body }, reply) => {
      const outcome = await issuePreviewToken(ctx, body)
      return outcome.ok ? outcome.preview : sendRefusal(reply, outcome)
    },
  )
}

async function issuePreviewToken(
  { sql, now }: Pick<ControlContext, 'sql' | 'now'>,
  body: z.infer<typeof previewTokenBodySchema>,
): Promise<Issued> {
  if (body.style_code !== undefined) return issueForStyle(sql, body.style_code, now())
  const basemaps = body.basemap_codes ?? (body.basemap_code === undefined ? [] : [body.basemap_code])
  const vectors = body.vector_codes ?? (body.vector_code === undefined ? [] : [body.vector_code])
  const basemapCodes = basemaps.length === 0 ? [] : (await readBasemaps(sql, basemaps)).map(({ code }) => code)
  const found = await Promise.all(vectors.map((code) => readVector(sql, code)))
  const vectorCodes = found.flatMap((vector) => (vector === null ? [] : [vector.code]))
  const codes = [...basemapCodes, ...vectorCodes]
  if (codes.length === 0) return refuse('not_found', coded('basemap_or_vector_not_found'))
  const name = codes.length === 1 ? codes[0] : `${codes.length} maps`
  return issue(sql, `preview of ${name}`, { basemapCodes, vectorCodes }, now())
}

/** Issues a token for everything that the kept revisions of a style need, since they are compared. */
async function issueForStyle(sql: Store, code: string, nowMs: number): Promise<Issued> {
  const style = await readStyle(sql, code)
  if (style === null) return NO_SUCH_STYLE
  const kept = await readStyleDocuments(sql, code)
  const sources = [style.dependencies, ...kept.map(({ document }) => dependenciesOf(JSON.parse(document)))].flatMap(
    (needed) => needed.sources,
  )
  const codesOf = (kind: 'basemap' | 'vector') => [
    ...new Set(sources.filter((source) => source.kind === kind).map((source) => source.code)),
  ]
  return issue(sql, `preview of ${code}`, { basemapCodes: codesOf('basemap'), vectorCodes: codesOf('vector') }, nowMs)
}

type Store = ControlContext['sql']

async function issue(
  sql: Store,
  name: string,
  grants: { readonly basemapCodes: string[]; readonly vectorCodes: string[] },
  nowMs: number,
): Promise<Issued> {
  const token = createToken()
  const expiresAt = new Date(nowMs + LIFETIME_MS)
  await sql.begin((tx) =>
    insertPreviewToken(tx, { name, prefix: tokenPrefix(token), digest: tokenDigest(token), ...grants, expiresAt }),
  )
  return { ok: true, preview: { token, expires_at: expiresAt.toISOString() } }
}
