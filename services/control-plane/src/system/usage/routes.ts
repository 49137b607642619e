import { listOf } from '@gateway/contracts/common.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { instantBefore, instantMs, queryInstantSchema } from '@gateway/contracts/instant.js'
import { coded } from '@gateway/contracts/messages.js'
import { REFUSAL_REASONS, USAGE_KINDS, USAGE_PAIRS, type UsageItem, usageItemSchema } from '@gateway/contracts/usage.js'
import { USAGE_AMOUNTS } from '@gateway/contracts/without-schemas.js'
import { listQuery, text } from '@gateway/store/catalog/list-query.js'
import { readUsage, USAGE_LISTING, USAGE_STEPS, type UsageRequest, type UsageStep } from '@gateway/store/usage.js'
import { z } from 'zod'
import type { ControlContext } from '../../platform/context.js'
import type { App } from '../../platform/http/app-type.js'
import { csvLine } from '../../platform/http/csv.js'
import { sendRefusal } from '../../platform/http/refusal.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Period if `from` is omitted: a day for hours, otherwise a month. */
const DEFAULT_MS: Readonly<Record<UsageStep, number>> = { hour: DAY_MS, day: 30 * DAY_MS, total: 30 * DAY_MS }
/** Maximum period by the hour for all ids. With 20,000 active tokens, a gateway has half a million such sums a day. */
const MAX_HOURLY_MS = 31 * DAY_MS
/** Maximum number of lines in a file: some 8 MB. */
const MAX_CSV_ROWS = 100_000

const moment = queryInstantSchema
const querySchema = listQuery(USAGE_LISTING, {}).extend({
  by: z
    .enum([...USAGE_KINDS, ...USAGE_PAIRS, 'basemap,token', 'vector,token'])
    .transform((by) => (by === 'basemap,token' ? 'token,basemap' : by === 'vector,token' ? 'token,vector' : by))
    .describe(
      'with a comma: by both together, one item for each token and each resource that it requested; the order has no meaning',
    ),
  id: text
    .optional()
    .describe(
      'the id of a token, the code of a basemap or vector, or `{code}/{version}`; only if `by` names one dimension',
    ),
  // The name `token` would mean a credential.
  token_id: text.optional().describe('only of this token, by its id; `by` must name `token`'),
  basemap_code: text.optional().describe('only of this basemap, by its code; `by` must name `basemap`'),
  vector_code: text.optional().describe('only of this vector, by its code; `by` must name `vector`'),
  from: moment
    .optional()
    .describe(
      'ISO 8601, UTC if it has no zone, rounded down to the beginning of its hour or day; default: a day before `to` by the hour, otherwise 30 ' +
        'days',
    ),
  to: moment.optional().describe('ISO 8601, UTC if it has no zone; default: now'),
  step: z
    .enum(USAGE_STEPS)
    .default('hour')
    .describe('`day`: days of UTC; `total`: one item for each id, over the whole range'),
  format: z.enum(['json', 'csv']).default('json'),
})

/** The hours that begin in [from, to). `from` is the start of an hour or day, so that the first item is complete. */
interface Range {
  readonly from: Date
  readonly to: Date
}

/** Columns of the CSV, in their order. */
const COLUMNS = ['id', 'at', ...USAGE_AMOUNTS, 'name'] as const
const PAIR_COLUMNS = ['token_id', 'token_name'] as const

function csvOf(items: readonly UsageItem[], dimensions: readonly string[]): string {
  const columns =
    dimensions.length > 1
      ? [...COLUMNS, ...PAIR_COLUMNS, `${dimensions[1] as 'basemap' | 'vector'}_code` as const]
      : COLUMNS
  const head = [...columns, ...REFUSAL_REASONS.map((reason) => `refused_by_${reason}`)]
  const lines = items.map((item) => [
    ...columns.map((name) => item[name] ?? null),
    ...REFUSAL_REASONS.map((reason) => item.refused_by[reason] ?? 0),
  ])
  return [head, ...lines].map(csvLine).join('')
}

export function usageRoutes(app: App, { sql, now }: ControlContext): void {
  app.get(
    '/api/v1/admin/usage',
    {
      schema: {
        operationId: 'getUsage',
        summary: 'List the usage of tokens, basemaps, versions and vectors',
        description:
          'Returns sums over all edges of the hours that begin in the range, with `from` included and `to` excluded. Counts appear within 25 ' +
          'seconds. Only requests with an existing token count, even if they were refused; requests to the control plane do not count. An hour ' +
          `or day without a request has no item. By the hour and without an id the range is at most ${MAX_HOURLY_MS / DAY_MS} days; the same ` +
          'limit holds for two dimensions, whatever the step. With `format=csv` the response is a file with all matching items, up to ' +
          `${MAX_CSV_ROWS} lines, whatever the values of \`limit\` and \`offset\`. An apostrophe precedes each id or name that a spreadsheet would ` +
          'take for a formula. Usage is kept for USAGE_DAYS, also for deleted items. Requests from before the upgrade to the first version ' +
          'that counts by two dimensions appear only under single dimensions.',
        querystring: querySchema,
        response: {
          200: {
            description: 'the sums',
            content: {
              'application/json': { schema: listOf(usageItemSchema) },
              'text/csv': { schema: z.string() },
            },
          },
        },
      },
    },
    async ({ query }, reply) => {
      const range = rangeOf(query, now())
      if ('ok' in range) return sendRefusal(reply, range)
      const wanted = idsOf(query)
      if ('ok' in wanted) return sendRefusal(reply, wanted)
      const { format, ...request } = { ...query, ...range, ...wanted }
      if (format === 'json') return readUsage(sql, request)
      const { items, total } = await readUsage(sql, { ...request, limit: MAX_CSV_ROWS, offset: 0 })
      if (total > MAX_CSV_ROWS) {
        const said = coded('usage_too_many_lines', { count: total, limit: MAX_CSV_ROWS })
        return sendRefusal(reply, refuse('invalid_parameters', said))
      }
      const name = `usage-by-${query.by.replace(',', '-')}-${query.step}.csv`
      return reply
        .type('text/csv; charset=utf-8')
        .header('Content-Disposition', `attachment; filename="${name}"`)
        .serializer((table: string) => table)
        .send(csvOf(items, query.by.split(',')))
    },
  )
}

type Query = z.output<typeof querySchema>
const ID_OF = { token: 'token_id', basemap: 'basemap_code', vector: 'vector_code' } as const
const DIMENSIONS = Object.keys(ID_OF) as (keyof typeof ID_OF)[]

/** Converts the ids in the query to the store's form. */
function idsOf(query: Query): Pick<UsageRequest, 'id' | 'token' | 'code'> | Refusal {
  const dimensions = query.by.split(',')
  const foreign = DIMENSIONS.find((name) => query[ID_OF[name]] !== undefined && !dimensions.includes(name))
  if (foreign !== undefined)
    return refuse(
      'invalid_parameters',
      coded('usage_no_dimension', { id: ID_OF[foreign], by: query.by, dimension: foreign }),
    )
  const named = dimensions.map((name) => ID_OF[name as keyof typeof ID_OF])
  const [first, second] = named.map((name) => query[name])
  if (dimensions.length === 1) {
    const id = query.id ?? first
    if (first !== undefined && id !== first) return refuse('invalid_parameters', coded('usage_other_id'))
    return { id, token: undefined, code: undefined }
  }
  if (query.id !== undefined)
    return refuse('invalid_parameters', coded('usage_two_dimensions', { names: named.join(' and ') }))
  return { token: first, code: second }
}

function rangeOf(query: Query, nowMs: number): Range | Refusal {
  const { step, from, to } = query
  const end = to === undefined ? nowMs : (instantMs(to) as number)
  const unit = step === 'hour' ? HOUR_MS : DAY_MS
  const wanted = from === undefined ? instantBefore(end, DEFAULT_MS[step]) : (instantMs(from) as number)
  const begin = Math.floor(wanted / unit) * unit
  if (wanted >= end) return refuse('invalid_parameters', coded('usage_from_after_to'))
  const hasId = [query.id, ...DIMENSIONS.map((name) => query[ID_OF[name]])].some((id) => id !== undefined)
  const isPair = query.by.includes(',')
  if (end - begin > MAX_HOURLY_MS && (step === 'hour' || isPair) && !hasId) {
    return refuse(
      'invalid_parameters',
      coded(isPair ? 'usage_range_pair' : 'usage_range_hour', { days: MAX_HOURLY_MS / DAY_MS }),
    )
  }
  return { from: new Date(begin), to: new Date(end) }
}
