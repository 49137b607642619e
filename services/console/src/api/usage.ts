import type { UsageAmounts, UsageItem, UsageKind } from '@gateway/contracts/usage.js'
import { USAGE_AMOUNTS } from '@gateway/contracts/without-schemas.js'
import { queryOptions } from '@tanstack/react-query'
import { call, reads, send } from './client.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Ranges of charts and lists, with the step of their points. Yesterday is the day before today in the viewer's zone; all others end now. */
export const USAGE_RANGES = {
  hour: { step: 'hour', ms: HOUR_MS },
  day: { step: 'hour', ms: DAY_MS },
  yesterday: { step: 'hour', ms: DAY_MS },
  week: { step: 'hour', ms: 7 * DAY_MS },
  month: { step: 'day', ms: 30 * DAY_MS },
  year: { step: 'day', ms: 365 * DAY_MS },
} as const
export type UsageRange = keyof typeof USAGE_RANGES
const STEP_MS = { hour: HOUR_MS, day: DAY_MS } as const
/** Length from which a chosen range is shown by the day. */
const MAX_HOURLY_MS = 8 * DAY_MS

/** A period of usage: a range with a name, or one between two times. */
export interface UsageSpan {
  readonly range: UsageRange | 'custom'
  /** for `custom`; milliseconds since 1970 */
  readonly fromMs: number
  readonly toMs: number
  readonly step: 'hour' | 'day'
}

/** Returns a range with a name. */
export function rangeUntil(range: UsageRange, nowMs: number): UsageSpan {
  const { step, ms } = USAGE_RANGES[range]
  if (range === 'yesterday') {
    const [fromMs, toMs] = [-1, 0].map((days) => midnightOf(nowMs, days)) as [number, number]
    return { range, step, fromMs, toMs }
  }
  return { range, step, fromMs: Math.floor((nowMs - ms) / STEP_MS[step]) * STEP_MS[step], toMs: nowMs }
}

/** Midnight in the viewer's zone, some days after that of a time; in whole hours, which is how usage is counted. */
function midnightOf(ms: number, days: number): number {
  const at = new Date(ms)
  at.setHours(0, 0, 0, 0)
  at.setDate(at.getDate() + days)
  return Math.floor(at.getTime() / HOUR_MS) * HOUR_MS
}

/** Returns a range between two times, in whole hours or days. */
export function rangeBetween(fromMs: number, toMs: number): UsageSpan {
  const step = toMs - fromMs <= MAX_HOURLY_MS ? 'hour' : 'day'
  const begin = Math.floor(fromMs / STEP_MS[step]) * STEP_MS[step]
  return { range: 'custom', step, fromMs: begin, toMs: Math.max(toMs, begin + STEP_MS[step]) }
}

export interface UsagePoint extends UsageAmounts {
  /** ISO 8601: beginning of the hour or day (in UTC) */
  readonly at: string
}

function usageCall(by: UsageKind, id: string, { step, fromMs, toMs }: UsageSpan, format: 'json' | 'csv') {
  const [from, to] = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()]
  return call('get', '/api/v1/admin/usage', { params: { query: { by, id, step, from, to, format } } })
}

/** The URL of the same data as a file. */
export function usageFile(by: UsageKind, id: string, span: UsageSpan): string {
  return usageCall(by, id, span, 'csv').path
}

/** Returns one point for each hour or day, oldest first. */
export function usageQuery(by: UsageKind, id: string, { range, ...chosen }: UsageSpan) {
  return queryOptions({
    // A range that ends now keeps its key.
    queryKey: ['usage', by, id, range === 'custom' ? chosen : range],
    queryFn: async ({ signal }) => {
      const span = range === 'custom' ? { range, ...chosen } : rangeUntil(range, Date.now())
      const { items } = await send(usageCall(by, id, span, 'json'), signal)
      const points = withQuietTimes(items, span.fromMs, span.toMs, STEP_MS[span.step])
      // Includes the range, because the previous result is shown while another one loads.
      return { points, shown: span }
    },
  })
}

/** The most requested resources of the last 24 hours, with their totals. */
export function busiestQuery(by: UsageKind, count: number) {
  return queryOptions({
    queryKey: ['usage', 'busiest', by, count],
    queryFn: async ({ signal }) => {
      const from = new Date(rangeUntil('day', Date.now()).fromMs).toISOString()
      const query = { by, from, step: 'total', sort: '-requests', limit: count } as const
      return (await reads('/api/v1/admin/usage', { params: { query } })({ signal })).items
    },
  })
}

/** Maximum rows on a page; the file has all. */
const MOST_TOGETHER = 20

function togetherCall(by: 'token' | 'basemap', id: string, { fromMs, toMs }: UsageSpan, format: 'json' | 'csv') {
  const [from, to] = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()]
  const only = by === 'token' ? { token_id: id } : { basemap_code: id }
  const query = {
    by: 'token,basemap',
    step: 'total',
    sort: '-requests',
    limit: MOST_TOGETHER,
    from,
    to,
    format,
    ...only,
  } as const
  return call('get', '/api/v1/admin/usage', { params: { query } })
}

export function togetherFile(by: 'token' | 'basemap', id: string, span: UsageSpan): string {
  return togetherCall(by, id, span, 'csv').path
}

/** The maps that a token used, or the tokens that used a map, in the order of their requests. */
export function togetherQuery(by: 'token' | 'basemap', id: string, { range, ...chosen }: UsageSpan) {
  return queryOptions({
    queryKey: ['usage', 'together', by, id, range === 'custom' ? chosen : range],
    queryFn: ({ signal }) => {
      const span = range === 'custom' ? { range, ...chosen } : rangeUntil(range, Date.now())
      return send(togetherCall(by, id, span, 'json'), signal)
    },
  })
}

/** Adds the hours and days without requests, which the service omits. */
export function withQuietTimes(
  items: readonly UsageItem[],
  fromMs: number,
  toMs: number,
  stepMs: number,
): UsagePoint[] {
  const known = new Map(items.map((item) => [Date.parse(item.at), item]))
  const points: UsagePoint[] = []
  for (let ms = fromMs; ms < toMs; ms += stepMs) {
    points.push({ ...(known.get(ms) ?? NOTHING), at: new Date(ms).toISOString() })
  }
  return points
}

const NOTHING: UsageAmounts = { requests: 0, tiles: 0, tile_404: 0, refused: 0, bytes: 0 }

export function sumOf(points: readonly UsageAmounts[]): UsageAmounts {
  const sum = { ...NOTHING }
  for (const point of points) for (const name of USAGE_AMOUNTS) sum[name] += point[name]
  return sum
}
