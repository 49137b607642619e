import { listAudit } from '@gateway/store/audit.js'
import { countTokens, readLedger } from '@gateway/store/ledger.js'
import { readScanSources } from '@gateway/store/scan-sources.js'
import { listTokens } from '@gateway/store/tokens.js'
import type { ControlContext } from '../context.js'
import type { KnownEdges } from '../edges/known-edges.js'
import { readLastHealthCheck } from '../health/last.js'
import type { App } from '../http/app-type.js'
import { type DashboardProviders, dashboardSchema } from './sections.js'

/** What fits a first page of the console; the lists' own endpoints have the rest. */
const NEWEST_TOKENS = 50
const NEWEST_AUDIT = 20

export function dashboardRoutes(
  app: App,
  { sql }: ControlContext,
  edges: KnownEdges,
  providers: DashboardProviders,
): void {
  app.get(
    '/api/v1/admin/dashboard',
    {
      schema: {
        summary: 'Everything that the first page of the console shows, in one answer',
        response: { 200: dashboardSchema },
      },
    },
    async () => {
      const [ledger, tokens, newest, pushes, layers, sources, health, live, audit] = await Promise.all([
        readLedger(sql),
        countTokens(sql),
        listTokens(sql, { limit: NEWEST_TOKENS, offset: 0 }),
        providers.pushes(),
        providers.layers(),
        readScanSources(sql),
        readLastHealthCheck(sql),
        edges.read(),
        listAudit(sql, NEWEST_AUDIT, null),
      ])
      return {
        ledger,
        tokens: { ...tokens, items: newest.items },
        pushes,
        layers,
        scan_sources: sources,
        health,
        edges: [...live],
        audit: audit.items,
      }
    },
  )
}
