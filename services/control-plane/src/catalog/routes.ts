import type { WantedResource } from '@gateway/access/decide.js'
import { isGranted } from '@gateway/access/decide.js'
import { basemapSchema } from '@gateway/contracts/basemap.js'
import { listOf } from '@gateway/contracts/common.js'
import { refuse } from '@gateway/contracts/errors.js'
import { vectorSchema } from '@gateway/contracts/vector.js'
import { readBasemap, readBasemaps } from '@gateway/store/basemaps.js'
import { readVector, readVectors, type StoredVector } from '@gateway/store/vectors.js'
import { z } from 'zod'
import type { ControlContext } from '../context.js'
import type { App } from '../http/app-type.js'
import { sendRefusal } from '../http/refusal.js'
import { toBasemap } from '../resources/basemap.js'
import { toVector } from '../resources/vector.js'
import type { ServiceGate } from '../service-access/token-gate.js'

const codeParams = z.object({ code: z.string().describe('the code, percent-encoded') })

export function catalogRoutes(app: App, ctx: ControlContext, gate: ServiceGate): void {
  basemapRoutes(app, ctx, gate)
  vectorRoutes(app, ctx, gate)
}

function basemapRoutes(app: App, { sql }: ControlContext, gate: ServiceGate): void {
  const onRequest = gate.require('read')
  app.get(
    '/api/v1/catalog/basemaps',
    {
      onRequest,
      schema: {
        summary: 'Basemaps that the token may read',
        description:
          'Filtered by the grants of the token and ordered by code. A token that grants nothing gets an empty list.',
        response: { 200: listOf(basemapSchema) },
      },
    },
    async ({ serviceToken }) => {
      const granted = (await readBasemaps(sql, null)).filter(({ code }) => isGranted(serviceToken, wantedBasemap(code)))
      return { items: granted.map(toBasemap), total: granted.length }
    },
  )
  app.get(
    '/api/v1/catalog/basemaps/:code',
    {
      onRequest,
      schema: {
        summary: 'One basemap',
        description: '403 where it is not granted, whether or not it exists; 404 where it is granted and absent.',
        params: codeParams,
        response: { 200: basemapSchema },
      },
    },
    async (request, reply) => {
      const { code } = request.params
      if (!gate.grants(request, reply, wantedBasemap(code), 'read')) return reply
      const stored = isStorable(code) ? await readBasemap(sql, code) : null
      return stored === null ? sendRefusal(reply, refuse('not_found', 'no such basemap')) : toBasemap(stored)
    },
  )
}

function vectorRoutes(app: App, { sql, settings }: ControlContext, gate: ServiceGate): void {
  const onRequest = gate.require('read')
  const resource = (stored: StoredVector) => toVector(stored, settings.vectorPublicBaseUrl)
  app.get(
    '/api/v1/catalog/vectors',
    {
      onRequest,
      schema: {
        summary: 'Vectors that the token may read',
        description: 'Filtered by the grants of the token (code, relative path or file name) and ordered by code.',
        response: { 200: listOf(vectorSchema) },
      },
    },
    async ({ serviceToken }) => {
      const granted = (await readVectors(sql, null)).filter((vector) => isGranted(serviceToken, wantedVector(vector)))
      return { items: granted.map(resource), total: granted.length }
    },
  )
  app.get(
    '/api/v1/catalog/vectors/:code',
    {
      onRequest,
      schema: {
        summary: 'One vector',
        description: '403 where it is not granted, whether or not it exists; 404 where it is granted and absent.',
        params: codeParams,
        response: { 200: vectorSchema },
      },
    },
    async (request, reply) => {
      const { code } = request.params
      const stored = isStorable(code) ? await readVector(sql, code) : null
      const wanted = stored === null ? ({ kind: 'vector', names: [code] } as const) : wantedVector(stored)
      if (!gate.grants(request, reply, wanted, 'read')) return reply
      return stored === null ? sendRefusal(reply, refuse('not_found', 'no such vector')) : resource(stored)
    },
  )
}

function wantedBasemap(code: string): NonNullable<WantedResource> {
  return { kind: 'basemap', code }
}

function wantedVector(stored: StoredVector): NonNullable<WantedResource> {
  return { kind: 'vector', names: [stored.code, stored.relativePath, stored.fileName] }
}

/** Postgres holds no NUL, so that nothing can have such a code. */
function isStorable(code: string): boolean {
  return !code.includes('\0')
}
