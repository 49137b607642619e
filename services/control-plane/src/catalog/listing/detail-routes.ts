import { adminBasemapSchema, adminBasemapVersionSchema, STORAGES, TILE_FORMATS } from '@gateway/contracts/basemap.js'
import { listOf } from '@gateway/contracts/common.js'
import { adminVectorSchema } from '@gateway/contracts/vector.js'
import { readBasemap, type StoredVersion } from '@gateway/store/basemaps.js'
import { toAdminBasemap, toAdminVersion } from '@gateway/store/catalog/basemap.js'
import { type MemoryListing, pageOf } from '@gateway/store/catalog/list-in-memory.js'
import { flag, listQuery } from '@gateway/store/catalog/list-query.js'
import { toAdminVector } from '@gateway/store/catalog/vector.js'
import { readVector } from '@gateway/store/vectors.js'
import { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import type { App } from '../../platform/http/app-type.js'
import { NO_SUCH_BASEMAP, NO_SUCH_VECTOR, NO_SUCH_VERSION, sendRefusal } from '../../platform/http/refusal.js'
import { byCode, byVersion } from '../edit/route-parts.js'

/** In natural order, as they are read. */
const VERSIONS = {
  searched: { version: ({ version }) => version, path: ({ path }) => path },
  sortable: {
    version: ({ place }) => place,
    storage: ({ storage }) => storage,
    format: ({ format }) => format,
    tile_size: ({ tileSize }) => tileSize,
    min_zoom: ({ minZoom }) => minZoom,
    max_zoom: ({ maxZoom }) => maxZoom,
    revision: ({ revision }) => revision,
    scanned_at: ({ scannedAt }) => scannedAt.getTime(),
    available: ({ available }) => available,
    withdrawn: ({ withdrawn }) => withdrawn,
  },
  order: 'version',
  filters: {
    storage: ({ storage }) => storage,
    format: ({ format }) => format,
    available: ({ available }) => available,
    withdrawn: ({ withdrawn }) => withdrawn,
    held: ({ review }) => review === 'held',
  },
} satisfies MemoryListing<StoredVersion & { readonly place: number }>

const SEEN = 'Includes items that readers do not see: withdrawn, unavailable, or of a disabled scan source.'

/** Routes for single items of the catalog, as administrators see them. */
export function detailRoutes(app: App, { sql, settings }: ControlContext): void {
  app.get(
    '/api/v1/admin/basemaps/:code',
    {
      schema: {
        operationId: 'getAdminBasemap',
        summary: 'Get a basemap with its versions',
        description: SEEN,
        params: byCode,
        response: { 200: adminBasemapSchema },
      },
    },
    async ({ params }, reply) => {
      const stored = await readBasemap(sql, params.code)
      return stored === null ? sendRefusal(reply, NO_SUCH_BASEMAP) : toAdminBasemap(stored)
    },
  )
  app.get(
    '/api/v1/admin/basemaps/:code/versions',
    {
      schema: {
        operationId: 'listBasemapVersions',
        summary: 'List the versions of a basemap',
        description: 'In natural order of their labels.',
        params: byCode,
        querystring: listQuery(VERSIONS, {
          storage: z.enum(STORAGES),
          format: z.enum(TILE_FORMATS),
          available: flag,
          withdrawn: flag,
          held: flag,
        }),
        response: { 200: listOf(adminBasemapVersionSchema) },
      },
    },
    async ({ params, query }, reply) => {
      const stored = await readBasemap(sql, params.code)
      if (stored === null) return sendRefusal(reply, NO_SUCH_BASEMAP)
      const versions = stored.versions.map((version, place) => ({ ...version, place }))
      const { items, total } = pageOf(versions, VERSIONS, query)
      return { items: items.map(toAdminVersion), total }
    },
  )
  app.get(
    '/api/v1/admin/basemaps/:code/versions/:version',
    {
      schema: {
        operationId: 'getBasemapVersion',
        summary: 'Get a version of a basemap',
        description: SEEN,
        params: byVersion,
        response: { 200: adminBasemapVersionSchema },
      },
    },
    async ({ params }, reply) => {
      const stored = await readBasemap(sql, params.code)
      const version = stored?.versions.find(({ version }) => version === params.version)
      return version === undefined ? sendRefusal(reply, NO_SUCH_VERSION) : toAdminVersion(version)
    },
  )
  app.get(
    '/api/v1/admin/vectors/:code',
    {
      schema: {
        operationId: 'getAdminVector',
        summary: 'Get a vector',
        description: SEEN,
        params: byCode,
        response: { 200: adminVectorSchema },
      },
    },
    async ({ params }, reply) => {
      const stored = await readVector(sql, params.code)
      return stored === null ? sendRefusal(reply, NO_SUCH_VECTOR) : toAdminVector(stored, settings.vectorPublicBaseUrl)
    },
  )
}
