import { refuse } from '@gateway/contracts/errors.js'
import { instantBefore, instantMs, queryInstantSchema } from '@gateway/contracts/instant.js'
import { coded } from '@gateway/contracts/messages.js'
import { USAGE_CELL_KINDS, type UsageCells, usageCellsSchema } from '@gateway/contracts/usage.js'
import { text, wholeNumber } from '@gateway/store/catalog/list-query.js'
import { readUsageCells, type UsageCell } from '@gateway/store/usage.js'
import { CELL_DAYS } from '@gateway/store/usage-retention.js'
import { TILE_MATRIX_SETS, tileBounds } from '@gateway/tilesets/tile-matrix-sets.js'
import { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import type { App } from '../../platform/http/app-type.js'
import { sendRefusal } from '../../platform/http/refusal.js'

const DAY_MS = 86_400_000
/** Number of days if `from` is omitted. */
const DEFAULT_DAYS = 7
/** Maximum number of cells in a response: some 2.5 MB before compression. */
const MAX_CELLS = 10_000

const querySchema = z.strictObject({
  basemap: text.describe('its code'),
  version: text.optional().describe('default: all versions'),
  kind: z.enum(USAGE_CELL_KINDS).default('requests').describe('`misses`: requests for tiles that do not exist'),
  from: queryInstantSchema
    .optional()
    .describe(
      `ISO 8601, UTC if it has no zone, rounded down to the beginning of its day; default: ${DEFAULT_DAYS} days before \`to\``,
    ),
  to: queryInstantSchema.optional().describe('ISO 8601, UTC if it has no zone; default: now'),
  limit: wholeNumber(1, MAX_CELLS)
    .default(5_000)
    .describe('maximum number of cells in the response; those with the highest counts come first'),
})

export function usageCellsRoute(app: App, { sql, now }: ControlContext): void {
  app.get(
    '/api/v1/admin/usage/cells',
    {
      schema: {
        operationId: 'getUsageCells',
        summary: 'List the map cells in which tiles were requested or missed',
        description:
          'Returns the cells of a heat map as GeoJSON; each cell is a tile of the grid of the version. A request for a tile counts in the cell ' +
          'that is that tile or contains it. Inside the version, and around it up to half its size, the smallest cells are such that at most ' +
          '64 lie side by side. Elsewhere the cells are those of zoom 6 (5 in the geographic grids). The counts are sums over all edges of the ' +
          'days (UTC) that begin in the range. They count the same requests as `tiles` and `tile_404` of `getUsage`. If an edge process serves ' +
          '800 such requests a second or more, it counts one in 64, with the weight 64. Counts appear within 25 seconds and are kept for ' +
          `${CELL_DAYS} days, or USAGE_DAYS if that is less. A deleted version has no cells any more.`,
        querystring: querySchema,
        response: { 200: usageCellsSchema },
      },
    },
    async ({ query: { from, to, ...rest } }, reply) => {
      const end = to === undefined ? now() : (instantMs(to) as number)
      const wanted = from === undefined ? instantBefore(end, DEFAULT_DAYS * DAY_MS) : (instantMs(from) as number)
      if (wanted >= end) return sendRefusal(reply, refuse('invalid_parameters', coded('usage_from_after_to')))
      const begin = new Date(Math.floor(wanted / DAY_MS) * DAY_MS)
      const { cells, total, requests } = await readUsageCells(sql, { ...rest, from: begin, to: new Date(end) })
      return { type: 'FeatureCollection' as const, total, requests, features: cells.map(featureOf) }
    },
  )
}

function featureOf({ tileMatrixSet, z, x, y, requests, missing }: UsageCell): UsageCells['features'][number] {
  const [west, south, east, north] = tileBounds(TILE_MATRIX_SETS[tileMatrixSet], { z, x, y }).map(
    // Rounds to centimetres.
    (degrees) => Math.round(degrees * 1e7) / 1e7,
  ) as [number, number, number, number]
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  return {
    type: 'Feature',
    properties: { tile_matrix_set: tileMatrixSet, z, x, y, requests, tile_404: missing },
    geometry: { type: 'Polygon', coordinates: [ring] },
  }
}
