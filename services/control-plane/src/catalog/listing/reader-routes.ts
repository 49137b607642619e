import { type Basemap, type Bounds, basemapSchema } from '@gateway/contracts/basemap.js'
import { listOf } from '@gateway/contracts/common.js'
import { refuse } from '@gateway/contracts/errors.js'
import { coded } from '@gateway/contracts/messages.js'
import { type Style, styleSchema } from '@gateway/contracts/style.js'
import { type Vector, vectorSchema } from '@gateway/contracts/vector.js'
import { isGranted } from '@gateway/core/access/decide.js'
import { isOffered, readBasemaps, type StoredBasemap } from '@gateway/store/basemaps.js'
import { toBasemap } from '@gateway/store/catalog/basemap.js'
import { pageOf } from '@gateway/store/catalog/list-in-memory.js'
import { READER_BASEMAPS, READER_STYLES, READER_VECTORS, type ReaderList } from '@gateway/store/catalog/reader-lists.js'
import { toStyle } from '@gateway/store/catalog/style.js'
import { toVector } from '@gateway/store/catalog/vector.js'
import { basemapWithin, vectorWithin } from '@gateway/store/catalog/within-area.js'
import { readStyles, type StoredStyle } from '@gateway/store/styles.js'
import { readVectors, type StoredVector } from '@gateway/store/vectors.js'
import { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import type { App } from '../../platform/http/app-type.js'
import { sendRefusal } from '../../platform/http/refusal.js'
import type { ServiceGate } from '../../platform/service-access/token-gate.js'

/** A kind of catalog entry, with its queries and responses. */
interface Kind<Stored> {
  readonly path: string
  readonly list: ReaderList<Stored>
  readonly operationIds: { readonly list: string; readonly get: string }
  /** for the description: by what a token may name it */
  readonly grantedBy: string
  readonly schema: z.ZodType<Basemap | Vector | Style>
  /** ordered by code; null: all */
  read(codes: readonly string[] | null): Promise<Stored[]>
  /** null: it lies outside the area */
  answer(stored: Stored, area: Bounds | null): Basemap | Vector | Style | null
}

/** Describes the edge, which serves these paths from memory; the routes here serve requests to the control plane itself. */
const FROM_MEMORY = 'Carries a weak `ETag`; `If-None-Match` is answered 304.'

const OUTSIDE_AREA = refuse('outside_bounds', coded('token_outside'))

/** The read interface of the catalog, for service tokens. */
export function readerRoutes(app: App, { sql, settings }: ControlContext, gate: ServiceGate): void {
  addRoutes(app, gate, {
    path: '/api/v1/catalog/basemaps',
    list: READER_BASEMAPS,
    operationIds: { list: 'listBasemaps', get: 'getBasemap' },
    grantedBy: 'code',
    schema: basemapSchema,
    read: (codes) => readBasemaps(sql, codes),
    answer: (stored: StoredBasemap, area: Bounds | null) => {
      const seen = basemapWithin(stored, area)
      return seen === null ? null : toBasemap(seen)
    },
  })
  addRoutes(app, gate, {
    path: '/api/v1/catalog/vectors',
    list: READER_VECTORS,
    operationIds: { list: 'listVectors', get: 'getVector' },
    grantedBy: 'code, relative path or file name',
    schema: vectorSchema,
    read: (codes) => readVectors(sql, codes),
    answer: (stored: StoredVector, area: Bounds | null) =>
      vectorWithin(toVector(stored, settings.vectorPublicBaseUrl), area),
  })
  addRoutes(app, gate, {
    path: '/api/v1/catalog/styles',
    list: READER_STYLES,
    operationIds: { list: 'listStyles', get: 'getStyle' },
    grantedBy: 'all basemaps and vectors of the style',
    schema: styleSchema,
    read: (codes) => readStyles(sql, codes),
    answer: (stored: StoredStyle) => toStyle(stored, settings.tilePublicBaseUrl),
  })
}

function addRoutes<Stored extends StoredBasemap | StoredVector | StoredStyle>(
  app: App,
  gate: ServiceGate,
  kind: Kind<Stored>,
): void {
  const { path, schema, list } = kind
  const { name } = list
  const onRequest = gate.require('read')
  app.get(
    path,
    {
      onRequest,
      schema: {
        operationId: kind.operationIds.list,
        summary: `The ${name}s that the token may read`,
        description: `Filtered by the grants of the token (${kind.grantedBy}) and ordered by code. A token that grants nothing gets an empty list. A token with \`bounds\` sees the bounds cut to them, and nothing that lies outside. ${FROM_MEMORY}`,
        querystring: list.query,
        response: { 200: listOf(schema) },
      },
    },
    async ({ serviceToken, query }, reply) => {
      const area = serviceToken.limits?.area ?? null
      const granted = (await kind.read(null)).filter(
        (stored) =>
          isOffered(stored) &&
          isGranted(serviceToken, list.wanted(stored)) &&
          (area === null || kind.answer(stored, area) !== null),
      )
      const { items, total } = pageOf(granted, list.listing, query)
      // Bypasses the schema, which would check every field of every entry: the edge writes the same without it.
      const text = JSON.stringify({ items: items.map((stored) => kind.answer(stored, area)), total })
      return reply.type('application/json; charset=utf-8').send(text as never)
    },
  )
  app.get(
    `${path}/:code`,
    {
      onRequest,
      schema: {
        operationId: kind.operationIds.get,
        summary: `One ${name}`,
        description: `403 where it is not granted, whether or not it exists, or lies outside the \`bounds\` of the token; 404 where it is granted and absent. $FROM_MEMORY`,
        params: z.object({ code: z.string().describe('the code, percent-encoded') }),
        response: { 200: schema },
      },
    },
    async (request, reply) => {
      const { code } = request.params
      // Postgres cannot store NUL, so that no code contains it.
      const [stored] = code.includes('\0') ? [] : await kind.read([code])
      const wanted = stored === undefined ? list.wantedByCode(code) : list.wanted(stored)
      if (!gate.grants(request, reply, wanted, 'read')) return reply
      if (stored === undefined || !isOffered(stored))
        return sendRefusal(reply, refuse('not_found', coded('nothing_of_kind', { kind: name })))
      return kind.answer(stored, request.serviceToken.limits?.area ?? null) ?? sendRefusal(reply, OUTSIDE_AREA)
    },
  )
}
