import { z } from 'zod'
import { TILE_MATRIX_SET_IDS } from './basemap.js'
import { timestampSchema } from './common.js'

/** The kinds of resources for which usage is counted. */
export const USAGE_KINDS = ['token', 'basemap', 'version', 'vector'] as const
export type UsageKind = (typeof USAGE_KINDS)[number]

/** The pairs for which usage is counted, which tell who used which map. */
export const USAGE_PAIRS = ['token,basemap', 'token,vector'] as const
export type UsagePair = (typeof USAGE_PAIRS)[number]
export type UsageBy = UsageKind | UsagePair

/** Placeholder for a token's id in a pair: signed URLs without a token, and tokens with too many pairs in one edge process. */
export const SIGNED_USAGE = 'signed'
export const OTHER_USAGE = 'other'

/** Reasons for refusing a request with an existing token. */
export const REFUSAL_REASONS = ['origin', 'network', 'grant', 'scope', 'expired', 'disabled', 'rate'] as const
export type RefusalReason = (typeof REFUSAL_REASONS)[number]

const count = z.int().optional()
/** Numbers of refused requests by reason. Absent reasons had none. */
const refusalsSchema = z.object({
  origin: count.describe('`allowed_origins` of the token'),
  network: count.describe('`allowed_networks`'),
  grant: count.describe('the token does not grant the requested resource'),
  scope: count.describe('the token lacks the scope `read`'),
  expired: count,
  disabled: count,
  rate: count.describe('`rate_limit`'),
} satisfies Record<RefusalReason, unknown>)

/** Amounts of usage. */
export const usageAmountsSchema = z.object({
  requests: z.int().describe('number of requests that edges have answered, whatever the status'),
  tiles: z.int().describe('requests that returned a tile, or 304 for a tile that the client has'),
  tile_404: z.int().describe('requests for a tile that does not exist'),
  refused: z.int().describe('requests that returned 401, 403 or 429'),
  bytes: z.int().describe('sent bytes of the bodies of all responses'),
})
export type UsageAmounts = z.infer<typeof usageAmountsSchema>

/** Amounts of one hour, in the form that edges report to the store. */
export interface UsageRow extends UsageAmounts {
  /** `cell`: a part of the map, for which `requests` counts only tiles */
  readonly kind: UsageBy | 'cell'
  /** `{code}/{version}` for a version, `{code}/{version}/{z}/{x}/{y}` for a cell, the token's id (or its placeholder), a slash and the code for a pair */
  readonly id: string
  /** milliseconds since 1970, a whole hour in UTC; for a cell a whole day */
  readonly at: number
  /** parts of `refused`; absent: none, or a cell */
  readonly refusals?: UsageRefusals
  /** number of `requests` that returned 5xx, only for a version; absent: none */
  readonly failed?: number
}

/** By reason: the number, and the time of the last one (milliseconds since 1970). */
export type UsageRefusals = { [Reason in RefusalReason]?: { requests: number; lastMs: number } }

export const usageItemSchema = usageAmountsSchema.extend({
  id: z
    .string()
    .describe(
      'for a token its id, for a basemap or vector its code, for a version `{code}/{version}`, for a pair `{token}/{code}`',
    ),
  name: z
    .string()
    .nullable()
    .describe(
      'the present name of the token, basemap or vector, and in a pair of the basemap or vector; null: it is gone, or a version',
    ),
  token_id: z
    .string()
    .optional()
    .describe(
      `in a pair: the id of the token; \`${SIGNED_USAGE}\`: requests by signed URLs; \`${OTHER_USAGE}\`: requests with more tokens than an ` +
        'edge process distinguishes',
    ),
  token_name: z.string().nullable().optional().describe('in a pair: the present name of the token'),
  basemap_code: z.string().optional().describe('its code, by `token,basemap`'),
  vector_code: z.string().optional().describe('its code, by `token,vector`'),
  refused_by: refusalsSchema.describe(
    'number of `refused` by reason; requests that were refused before the gateway counted reasons have no reason',
  ),
  at: timestampSchema.describe('when the hour or day begins (UTC), or the range with `step=total`'),
})
export type UsageItem = z.infer<typeof usageItemSchema>

/** The content of a heat map: all requests, or requests for missing tiles. */
export const USAGE_CELL_KINDS = ['requests', 'misses'] as const
export type UsageCellKind = (typeof USAGE_CELL_KINDS)[number]

const degrees = z.array(z.number()).length(2).describe('longitude, latitude')

/** GeoJSON (RFC 7946) of the parts of the map in which tiles were requested. */
export const usageCellsSchema = z.object({
  type: z.literal('FeatureCollection'),
  total: z.int().describe('number of cells in the range, including those beyond `limit`'),
  requests: z.int().describe('sum over all cells; with `kind=misses` the requests for tiles that do not exist'),
  features: z.array(
    z.object({
      type: z.literal('Feature'),
      properties: z.object({
        tile_matrix_set: z.enum(TILE_MATRIX_SET_IDS),
        z: z.int().describe('the zoom of the tile that is the cell'),
        x: z.int().describe('its column'),
        y: z.int().describe('its row, counted from the north'),
        requests: z.int().describe('requests for this tile; in the smallest cells also for all tiles below it'),
        tile_404: z.int().describe('requests for a tile that does not exist'),
      }),
      geometry: z.object({ type: z.literal('Polygon'), coordinates: z.array(z.array(degrees)) }),
    }),
  ),
})
export type UsageCells = z.infer<typeof usageCellsSchema>
