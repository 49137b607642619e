import { basemapSchema } from '@gateway/contracts/basemap.js'
import { listOf } from '@gateway/contracts/common.js'
import { styleSchema } from '@gateway/contracts/style.js'
import { vectorSchema } from '@gateway/contracts/vector.js'
import { readBasemaps } from '@gateway/store/basemaps.js'
import { basemapFor } from '@gateway/store/catalog/canary.js'
import {
  BASEMAPS,
  entryText,
  type Listed,
  listText,
  type ReaderEntry,
  type ReaderKind,
  STYLES,
  VECTORS,
} from '@gateway/store/catalog/reader-answers.js'
import { readStyles } from '@gateway/store/styles.js'
import { readVectors } from '@gateway/store/vectors.js'
import { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import type { App } from '../../platform/http/app-type.js'
import { sendRefusal } from '../../platform/http/refusal.js'
import type { ServiceGate } from '../../platform/service-access/token-gate.js'

/** A list of the catalog, and how its rows are read. */
interface Route<Stored extends Listed, Entry extends ReaderEntry<Stored>> {
  readonly kind: ReaderKind<Stored, Entry>
  readonly operationIds: { readonly list: string; readonly get: string }
  /** for the description: by what a token may name it */
  readonly grantedBy: string
  readonly schema: z.ZodType<object>
  /** ordered by code, without `wanted`; null: all */
  read(codes: readonly string[] | null, tokenId: string): Promise<readonly Omit<Entry, 'wanted'>[]>
}

/** The edge answers these addresses by the same functions, from what it holds; the routes here answer requests to the control plane itself. */
const FROM_MEMORY = 'The response carries a weak `ETag`; a matching `If-None-Match` returns 304.'
const JSON_TYPE = 'application/json; charset=utf-8'

/** The read interface of the catalog, for service tokens. */
export function readerRoutes(app: App, ctx: ControlContext, gate: ServiceGate): void {
  const { sql } = ctx
  addRoutes(app, ctx, gate, {
    kind: BASEMAPS,
    operationIds: { list: 'listBasemaps', get: 'getBasemap' },
    grantedBy: 'code',
    schema: basemapSchema,
    read: async (codes, tokenId) =>
      (await readBasemaps(sql, codes)).map((stored) => ({ stored: basemapFor(stored, tokenId) })),
  })
  addRoutes(app, ctx, gate, {
    kind: VECTORS,
    operationIds: { list: 'listVectors', get: 'getVector' },
    grantedBy: 'code, relative path or file name',
    schema: vectorSchema,
    read: async (codes) =>
      (await readVectors(sql, codes)).map((stored) => ({ stored, factsText: JSON.stringify(stored.facts) })),
  })
  addRoutes(app, ctx, gate, {
    kind: STYLES,
    operationIds: { list: 'listStyles', get: 'getStyle' },
    grantedBy: 'all basemaps and vectors of the style',
    schema: styleSchema,
    read: async (codes) => (await readStyles(sql, codes)).map((stored) => ({ stored })),
  })
}

function addRoutes<Stored extends Listed, Entry extends ReaderEntry<Stored>>(
  app: App,
  { settings }: ControlContext,
  gate: ServiceGate,
  { kind, operationIds, grantedBy, schema, read }: Route<Stored, Entry>,
): void {
  const { list } = kind
  const path = `/api/v1/catalog/${list.name}s`
  const onRequest = gate.require('read')
  const entriesOf = async (codes: readonly string[] | null, tokenId: string) => {
    const rows = await read(codes, tokenId)
    return new Map(rows.map((row) => [row.stored.code, { ...row, wanted: list.wanted(row.stored) } as Entry]))
  }
  app.get(
    path,
    {
      onRequest,
      schema: {
        operationId: operationIds.list,
        summary: `List the ${list.name}s that the token may read`,
        description:
          `Filtered by the grants of the token (${grantedBy}) and ordered by code. A token without grants gets an empty list. A token with ` +
          `\`bounds\` gets bounds that are cut to its own, and nothing outside them. ${FROM_MEMORY}`,
        querystring: list.query,
        response: { 200: listOf(schema) },
      },
    },
    async ({ serviceToken, query }, reply) => {
      const entries = await entriesOf(null, serviceToken.id)
      const text = [...listText(kind, entries, serviceToken, query, settings)].join('')
      // Not by the schema, which would look at every field of every entry.
      return reply.type(JSON_TYPE).send(text as never)
    },
  )
  app.get(
    `${path}/:code`,
    {
      onRequest,
      schema: {
        operationId: operationIds.get,
        summary: `One ${list.name}`,
        description:
          'Returns 403 if the token does not grant it, whether or not it exists, or if it lies outside the `bounds` of the token. Returns 404 if ' +
          `the token grants it and it does not exist. ${FROM_MEMORY}`,
        params: z.object({ code: z.string().describe('the code, percent-encoded') }),
        response: { 200: schema },
      },
    },
    async (request, reply) => {
      const { code } = request.params
      const { id, limits } = request.serviceToken
      // Postgres cannot store NUL, so that no code contains it.
      const entry = code.includes('\0') ? undefined : (await entriesOf([code], id)).get(code)
      if (!gate.grants(request, reply, entry?.wanted ?? list.wantedByCode(code), 'read')) return reply
      const found = entryText(kind, entry, settings, limits?.area ?? null)
      return 'ok' in found ? sendRefusal(reply, found) : reply.type(JSON_TYPE).send(found.text as never)
    },
  )
}
