import { type dashboardLayerSchema, type dashboardPushesSchema, dashboardSchema } from '@gateway/contracts/console.js'
import { withWarnings } from '@gateway/contracts/warning.js'
import { settingWarnings } from '@gateway/core/settings/warnings.js'
import { listAudit } from '@gateway/store/audit.js'
import { countTokens, readLedger } from '@gateway/store/ledger.js'
import { readScanSources } from '@gateway/store/scan-sources.js'
import { listTokens } from '@gateway/store/tokens.js'
import type { z } from 'zod'
import { readLastHealthCheck } from '../../catalog/health/check-catalog.js'
import type { ControlContext } from '../../platform/context.js'
import type { KnownEdges } from '../../platform/edges/known-edges.js'
import type { App } from '../../platform/http/app-type.js'

/** Numbers of tokens and audit entries on the first page of the console; their own lists have all. The response is a part of that page. */
const NEWEST_TOKENS = 10
const NEWEST_AUDIT = 10

/** Sections of other features. features.ts passes the functions that read them. */
interface DashboardProviders {
  pushes(): Promise<z.input<typeof dashboardPushesSchema>>
  layers(): Promise<z.input<typeof dashboardLayerSchema>[]>
}

export function dashboardRoutes(
  app: App,
  { sql, settings }: ControlContext,
  edges: KnownEdges,
  providers: DashboardProviders,
): void {
  app.get(
    '/api/v1/admin/dashboard',
    {
      schema: {
        operationId: 'getDashboard',
        summary: 'Get all data of the first page of the console in one response',
        description:
          'Returns counts of the catalog and of tokens, and the newest tokens, pushes, layers, scans and audit entries.',
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
        listAudit(sql, { limit: NEWEST_AUDIT }),
      ])
      const warnings = settingWarnings(settings).map(({ code, finding, advice }) => ({
        code,
        message: `${finding}; ${advice}`,
      }))
      const dashboard = {
        ledger,
        tokens: { ...tokens, items: newest.items },
        pushes,
        layers,
        scan_sources: sources,
        health,
        edges: [...live],
        audit: audit.items,
      }
      return withWarnings(dashboard, warnings)
    },
  )
}
