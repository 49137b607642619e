import { z } from 'zod'
import { boundsSchema } from './basemap.js'
import { timestampSchema } from './common.js'
import { EXPORT_STATUSES, exportBodySchema } from './export.js'
import { messageFields, sentence } from './messages.js'

export const SEED_STATUSES = EXPORT_STATUSES

/** Limit: tiles of one job. It is that of exports, so that whatever was fetched can be exported. */
export const MAX_SEEDED_TILES = 20_000_000
/** Limit: tiles of a job that are named because they could not be fetched. */
export const MAX_NAMED_FAILURES = 20
/** Limit: requests a second to a service. A faster job would be an attack on most services. */
const MOST_A_SECOND = 1_000
const MAX_ZOOM = 24

const zoom = z.int().min(0).max(MAX_ZOOM)

export const seedBodySchema = z
  .strictObject({
    basemap_code: z.string().min(1),
    version: z.string().min(1).describe('`live`: the version whose tiles are those of a service'),
    bounds: exportBodySchema.shape.bounds
      .unwrap()
      .describe('west, south, east, north in degrees; if west is above east, the area crosses the antimeridian'),
    min_zoom: zoom.describe('zooms that the version does not have are left out'),
    max_zoom: zoom,
    rate: z.int().min(1).max(MOST_A_SECOND).default(10).describe('requests to the service a second, at most'),
  })
  .refine(({ min_zoom, max_zoom }) => min_zoom <= max_zoom, sentence('said.zooms_swapped'))
export type SeedBody = z.infer<typeof seedBodySchema>

/** The estimate of a seed, as if nothing of its area were kept. */
export const seedEstimateSchema = z.object({
  tiles: z.int(),
  requests: z.int().describe('a service that draws pictures gives several tiles by one request'),
  bytes_estimate: z
    .int()
    .nullable()
    .describe('by the tiles that are kept; null: none is kept on the host of this control plane'),
  seconds: z.int().describe('at the rate of the request, if the service keeps up'),
})
export type SeedEstimate = z.infer<typeof seedEstimateSchema>

export const seedSchema = z.object({
  id: z.uuid(),
  basemap_code: z.string(),
  version: z.string(),
  bounds: boundsSchema,
  min_zoom: z.int(),
  max_zoom: z.int(),
  rate: z.int().describe('requests to the service a second, at most'),
  status: z.enum(SEED_STATUSES),
  cancelled: z.boolean().describe('true if it was cancelled; its status is then `failed`'),
  message: z.string().describe('why it failed, or why it waits for the service; empty otherwise'),
  ...messageFields,
  progress: z.number().min(0).max(100),
  total: z.int().describe('tiles in the area and the zooms'),
  done: z.int().describe('tiles that are kept, or that the service does not have'),
  failed: z.int().describe('tiles that could not be fetched, each in several requests'),
  failures: z
    .array(
      z.object({ z: z.int(), x: z.int(), y: z.int(), message: z.string().describe('in the words of the service') }),
    )
    .max(MAX_NAMED_FAILURES)
    .describe('the first of these tiles'),
  requested_by: z.string(),
  created_at: timestampSchema,
  started_at: timestampSchema.nullable(),
  finished_at: timestampSchema.nullable(),
})
export type Seed = z.infer<typeof seedSchema>
