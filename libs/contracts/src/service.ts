import { z } from 'zod'
import { TILE_FORMATS, type upstreamStateSchema } from './basemap.js'
import { codeSchema } from './common.js'
import { exportBodySchema } from './export.js'
import { sentence } from './messages.js'

/** Limits of the options of a service. */
const MOST_TTL_SECONDS = 365 * 86_400
const MOST_CONCURRENT = 256
const MOST_SECONDS = 120
const MOST_META_TILES = 8
const MAX_DAYS = 3_650
const MAX_ZOOM = 24
const MAX_LAYERS = 5_000
const MAX_NAME = 500
const MAX_HEADERS = 20
const MAX_HEADER = 4_096
const MAX_SUBDOMAINS = 20

export const serviceOptionsSchema = z.strictObject({
  ttl_seconds: z
    .int()
    .min(1)
    .max(MOST_TTL_SECONDS)
    .optional()
    .describe('seconds for which a tile is current; default: 604800'),
  format: z.enum(TILE_FORMATS).optional().describe('the format that is asked for, if the service has it'),
  min_zoom: z.int().min(0).max(MAX_ZOOM).optional(),
  max_zoom: z.int().min(0).max(MAX_ZOOM).optional(),
  tile_size: z
    .union([z.literal(256), z.literal(512)])
    .optional()
    .describe('of layers whose service does not say it; default: 256'),
  max_concurrent: z
    .int()
    .min(1)
    .max(MOST_CONCURRENT)
    .optional()
    .describe('requests to a host of the service at once, of all processes of a machine together; default: 8'),
  timeout_seconds: z
    .int()
    .min(1)
    .max(MOST_SECONDS)
    .optional()
    .describe('seconds in which a request must be answered; default: 10'),
  meta_tiles: z
    .int()
    .min(1)
    .max(MOST_META_TILES)
    .optional()
    .describe('tiles in a row of the squares in which pictures are asked for, of services that draw them; default: 4'),
  stale_days: z
    .int()
    .min(0)
    .max(MAX_DAYS)
    .optional()
    .describe('age up to which an old tile is sent while the service fails; default: 30'),
  subdomains: z
    .array(z.string().min(1).max(63))
    .max(MAX_SUBDOMAINS)
    .optional()
    .describe('values of `{s}` in a template'),
})
export type ServiceOptions = z.infer<typeof serviceOptionsSchema>

export const serviceLayersSchema = z
  .array(
    z.union([
      z.string().max(MAX_NAME),
      z.strictObject({ name: z.string().max(MAX_NAME), code: codeSchema.optional() }),
    ]),
  )
  .max(MAX_LAYERS)
  .describe('layers of a service that are taken, each with the code of its basemap; default: all that can be served')
export type ServiceLayers = z.infer<typeof serviceLayersSchema>

export const serviceHeadersSchema = z
  .record(
    z.string().regex(/^[A-Za-z0-9-]{1,100}$/),
    z
      .string()
      .max(MAX_HEADER)
      .regex(/^[^\0\r\n]*$/),
  )
  .refine((headers) => Object.keys(headers).length <= MAX_HEADERS)
  .describe('headers that are sent to a service; never returned. An empty object removes them')

export interface ServiceChoice {
  readonly layers?: ServiceLayers | undefined
  readonly options?: ServiceOptions | undefined
}

export type UpstreamState = z.infer<typeof upstreamStateSchema>

export const refreshBodySchema = z
  .strictObject({
    bounds: exportBodySchema.shape.bounds.describe('west, south, east, north in degrees; omitted: everywhere'),
    min_zoom: z.int().min(0).max(MAX_ZOOM).optional(),
    max_zoom: z.int().min(0).max(MAX_ZOOM).optional(),
  })
  .refine(({ min_zoom = 0, max_zoom = MAX_ZOOM }) => min_zoom <= max_zoom, sentence('said.zooms_swapped'))
