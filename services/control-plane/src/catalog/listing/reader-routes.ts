import { isGranted, type WantedResource } from '@gateway/access/decide.js'
import { type Basemap, basemapSchema } from '@gateway/contracts/basemap.js'
import { listOf } from '@gateway/contracts/common.js'
import { refuse } from '@gateway/contracts/errors.js'
import { VECTOR_KINDS, type Vector, vectorSchema } from '@gateway/contracts/vector.js'
import { isOffered, readBasemaps, type StoredBasemap } from '@gateway/store/basemaps.js'
import { readVectors, type StoredVector } from '@gateway/store/vectors.js'
import { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import type { App } from '../../platform/http/app-type.js'
import { type MemoryListing, pageOf } from '../../platform/http/list-in-memory.js'
import { flag, listQuery, text } from '../../platform/http/list-query.js'
import { sendRefusal } from '../../platform/http/refusal.js'
import type { ServiceGate } from '../../platform/service-access/token-gate.js'
import { toBasemap } from '../resources/basemap.js'
import { toVector } from '../resources/vector.js'

type Wanted = NonNullable<WantedResource>

/** What the catalog lists: how it is read, granted and answered. */
interface Kind<Stored> {
  readonly path: string
  readonly name: 'basemap' | 'vector'
  readonly operationIds: { readonly list: string; readonly get: string }
  /** for the description: by what a token may name it */
  readonly grantedBy: string
  readonly schema: z.ZodType<Basemap | Vector>
  /** ordered by code; null: all */
  read(codes: readonly string[] | null): Promise<Stored[]>
  wanted(stored: Stored): Wanted
  /** of a code that nothing has */
  wantedByCode(code: string): Wanted
  answer(stored: Stored): Basemap | Vector
  readonly listing: MemoryListing<Stored>
  readonly filters: Readonly<Record<string, z.ZodType>>
}

type Listable = { readonly code: string; readonly name: string; readonly sourceCode: string }
/** By code, as both kinds are read. */
const BY_CODE = {
  searched: { code: ({ code }: Listable) => code, name: ({ name }: Listable) => name },
  sortable: { code: ({ code }: Listable) => code, name: ({ name }: Listable) => name.toLowerCase() },
  order: 'code',
}
const sourceCode = ({ sourceCode }: Listable) => sourceCode

const BASEMAPS: MemoryListing<StoredBasemap> = {
  ...BY_CODE,
  sortable: {
    ...BY_CODE.sortable,
    created_at: ({ createdAt }) => createdAt.getTime(),
    updated_at: ({ updatedAt }) => updatedAt.getTime(),
  },
  filters: { source_code: sourceCode, available: ({ defaultVersion }) => defaultVersion !== null },
}
const VECTORS: MemoryListing<StoredVector> = {
  ...BY_CODE,
  searched: { ...BY_CODE.searched, 'relative path': ({ relativePath }) => relativePath },
  sortable: {
    ...BY_CODE.sortable,
    relative_path: ({ relativePath }) => relativePath,
    size: ({ size }) => size,
    modified_at: ({ modifiedAt }) => modifiedAt.getTime(),
  },
  filters: { source_code: sourceCode, kind: ({ kind }) => kind, available: ({ available }) => available },
}

/** The read interface of the catalog, for service tokens. */
export function readerRoutes(app: App, { sql, settings }: ControlContext, gate: ServiceGate): void {
  addRoutes(app, gate, {
    path: '/api/v1/catalog/basemaps',
    name: 'basemap',
    operationIds: { list: 'listBasemaps', get: 'getBasemap' },
    grantedBy: 'code',
    schema: basemapSchema,
    read: (codes) => readBasemaps(sql, codes),
    wanted: ({ code }: StoredBasemap) => ({ kind: 'basemap', code }),
    wantedByCode: (code) => ({ kind: 'basemap', code }),
    answer: toBasemap,
    listing: BASEMAPS,
    filters: { source_code: text, available: flag.describe('whether it has a version to serve') },
  })
  addRoutes(app, gate, {
    path: '/api/v1/catalog/vectors',
    name: 'vector',
    operationIds: { list: 'listVectors', get: 'getVector' },
    grantedBy: 'code, relative path or file name',
    schema: vectorSchema,
    read: (codes) => readVectors(sql, codes),
    wanted: (stored: StoredVector) => ({ kind: 'vector', names: [stored.code, stored.relativePath, stored.fileName] }),
    wantedByCode: (code) => ({ kind: 'vector', names: [code] }),
    answer: (stored) => toVector(stored, settings.vectorPublicBaseUrl),
    listing: VECTORS,
    filters: { source_code: text, kind: z.enum(VECTOR_KINDS), available: flag },
  })
}

function addRoutes<Stored extends StoredBasemap | StoredVector>(app: App, gate: ServiceGate, kind: Kind<Stored>): void {
  const { path, name, schema, listing } = kind
  const onRequest = gate.require('read')
  app.get(
    path,
    {
      onRequest,
      schema: {
        operationId: kind.operationIds.list,
        summary: `The ${name}s that the token may read`,
        description: `Filtered by the grants of the token (${kind.grantedBy}) and ordered by code. A token that grants nothing gets an empty list.`,
        querystring: listQuery(listing, kind.filters, null),
        response: { 200: listOf(schema) },
      },
    },
    async ({ serviceToken, query }) => {
      const granted = (await kind.read(null)).filter(
        (stored) => isOffered(stored) && isGranted(serviceToken, kind.wanted(stored)),
      )
      const { items, total } = pageOf(granted, listing, query)
      return { items: items.map(kind.answer), total }
    },
  )
  app.get(
    `${path}/:code`,
    {
      onRequest,
      schema: {
        operationId: kind.operationIds.get,
        summary: `One ${name}`,
        description: '403 where it is not granted, whether or not it exists; 404 where it is granted and absent.',
        params: z.object({ code: z.string().describe('the code, percent-encoded') }),
        response: { 200: schema },
      },
    },
    async (request, reply) => {
      const { code } = request.params
      // Postgres cannot store NUL, so that no code contains it.
      const [stored] = code.includes('\0') ? [] : await kind.read([code])
      const wanted = stored === undefined ? kind.wantedByCode(code) : kind.wanted(stored)
      if (!gate.grants(request, reply, wanted, 'read')) return reply
      if (stored === undefined || !isOffered(stored)) return sendRefusal(reply, refuse('not_found', `no such ${name}`))
      return kind.answer(stored)
    },
  )
}
