import { listedBasemapSchema, listedVersionSchema, STORAGES, TILE_FORMATS } from '@gateway/contracts/basemap.js'
import { listOf } from '@gateway/contracts/common.js'
import { adminVectorSchema, VECTOR_KINDS, VECTOR_TILE_STATUSES } from '@gateway/contracts/vector.js'
import { toAdminBasemap, toAdminVersion } from '@gateway/store/catalog/basemap.js'
import { FOUND_BY_SCAN, flag, listQuery, text } from '@gateway/store/catalog/list-query.js'
import { toAdminVector } from '@gateway/store/catalog/vector.js'
import {
  BASEMAP_LISTING,
  findBasemapCodes,
  findVectorCodes,
  listBasemaps,
  listVectors,
  listVersions,
  VECTOR_LISTING,
  VERSION_LISTING,
} from '@gateway/store/catalog-lists.js'
import { readRequestsPerDay } from '@gateway/store/usage.js'
import { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import type { KnownEdges } from '../../platform/edges/known-edges.js'
import type { App } from '../../platform/http/app-type.js'
import { bulkCatalogRoute } from '../edit/bulk.js'
import { updateBasemap } from '../edit/update-basemap.js'
import { updateVector } from '../edit/update-vector.js'

const BASEMAPS_QUERY = listQuery(BASEMAP_LISTING, {
  source_code: text,
  available: flag.describe('true: at least one version is available; false: none'),
  withdrawn: flag,
  source_enabled: flag,
  owner: text,
  tag: text.describe('only basemaps that have this tag'),
})
const VECTORS_QUERY = listQuery(VECTOR_LISTING, {
  kind: z.enum(VECTOR_KINDS),
  tiles_status: z.enum(VECTOR_TILE_STATUSES).describe('`tiles.status` of the vector'),
  source_code: text,
  available: flag,
  withdrawn: flag,
  source_enabled: flag,
  scan: FOUND_BY_SCAN,
})

/** Routes that list the catalog for administrators. */
export function adminListRoutes(app: App, ctx: ControlContext, edges: KnownEdges): void {
  const { sql, settings } = ctx
  bulkCatalogRoute(app, ctx, edges, {
    path: 'basemaps',
    operationId: 'changeBasemaps',
    query: BASEMAPS_QUERY,
    find: (filter, most) => findBasemapCodes(sql, filter, most),
    update: updateBasemap,
  })
  bulkCatalogRoute(app, ctx, edges, {
    path: 'vectors',
    operationId: 'changeVectors',
    query: VECTORS_QUERY,
    find: (filter, most) => findVectorCodes(sql, filter, most),
    update: updateVector,
  })
  app.get(
    '/api/v1/admin/basemaps',
    {
      schema: {
        operationId: 'listAdminBasemaps',
        summary: 'List basemaps with their versions',
        description: 'Includes basemaps that readers do not see: withdrawn, unavailable, or of a disabled scan source.',
        querystring: BASEMAPS_QUERY,
        response: { 200: listOf(listedBasemapSchema) },
      },
    },
    async ({ query }) => {
      const { items, total } = await listBasemaps(sql, query)
      const perDay = await readRequestsPerDay(
        sql,
        items.map(({ code }) => code),
      )
      const withUse = items.map((stored) => ({
        ...toAdminBasemap(stored),
        requests_per_day: perDay.get(stored.code) ?? 0,
      }))
      return { items: withUse, total }
    },
  )
  app.get(
    '/api/v1/admin/versions',
    {
      schema: {
        operationId: 'listVersions',
        summary: 'List the versions of all basemaps',
        description: 'Ordered by basemap, then by label as text.',
        querystring: listQuery(VERSION_LISTING, {
          basemap_code: text,
          source_code: text,
          storage: z.enum(STORAGES),
          format: z.enum(TILE_FORMATS),
          available: flag,
          withdrawn: flag.describe('true: the version or its basemap is withdrawn'),
          held: flag.describe('true: the version waits for an approval'),
          source_enabled: flag,
          scan: FOUND_BY_SCAN,
        }),
        response: { 200: listOf(listedVersionSchema) },
      },
    },
    async ({ query }) => {
      const { items, total } = await listVersions(sql, query)
      return { items: items.map((stored) => ({ basemap_code: stored.basemapCode, ...toAdminVersion(stored) })), total }
    },
  )
  app.get(
    '/api/v1/admin/vectors',
    {
      schema: {
        operationId: 'listAdminVectors',
        summary: 'List vectors',
        description: 'Includes vectors that readers do not see: withdrawn, unavailable, or of a disabled scan source.',
        querystring: VECTORS_QUERY,
        response: { 200: listOf(adminVectorSchema) },
      },
    },
    async ({ query }) => {
      const { items, total } = await listVectors(sql, query)
      return { items: items.map((vector) => toAdminVector(vector, settings.vectorPublicBaseUrl)), total }
    },
  )
}
