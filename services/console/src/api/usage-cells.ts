import type { UsageCellKind } from '@gateway/contracts/usage.js'
import { queryOptions } from '@tanstack/react-query'
import { reads } from './client.js'

/** Days of a heat map. The service keeps a month. */
export const HEAT_RANGES = { day: 1, week: 7, month: 31 } as const
export type HeatRange = keyof typeof HEAT_RANGES

const DAY_MS = 86_400_000

/** The parts of a basemap in which tiles were requested, today and on the previous days (UTC). */
export function usageCellsQuery(basemap: string, kind: UsageCellKind, range: HeatRange) {
  return queryOptions({
    queryKey: ['usage', 'cells', basemap, kind, range],
    queryFn: async ({ signal }) => {
      const from = new Date(Date.now() - (HEAT_RANGES[range] - 1) * DAY_MS).toISOString().slice(0, 10)
      const cells = await reads('/api/v1/admin/usage/cells', { params: { query: { basemap, kind, from } } })({ signal })
      // Includes the kind, because the previous result is shown while another one loads.
      return { cells, shown: kind }
    },
  })
}
