import type { EdgePresence } from '@gateway/contracts/edge.js'
import type { TrafficHistory } from '@gateway/contracts/traffic.js'
import { Paper, SimpleGrid, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Dashboard } from '../../api/system.js'
import { Link } from '../../router/components.js'
import { useTexts } from '../../texts/texts.js'
import { useFormats } from '../../ui/use-formats.js'
import { rateOf, shareFromMemory } from './rates.js'

interface FiguresProps {
  readonly dashboard: Dashboard
  readonly edges: readonly EdgePresence[] | undefined
  readonly traffic: TrafficHistory | undefined
}

/** Five key figures of the installation. */
export function Figures({ dashboard: { ledger, tokens }, edges, traffic }: FiguresProps) {
  const t = useTexts().overview.figures
  const formats = useFormats()
  const availability = (n: number) => (n === 0 ? t.allAvailable : t.unavailable(n))
  const now = traffic?.edges ?? []
  const share = shareFromMemory(now)
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }} spacing="md">
      <Figure to="/basemaps" name={t.basemaps} value={formats.number(ledger.basemaps)}>
        {t.versions(ledger.versions)}, {availability(ledger.versions_unavailable)}
      </Figure>
      <Figure to="/vectors" name={t.vectors} value={formats.number(ledger.vectors)}>
        {availability(ledger.vectors_unavailable)}
      </Figure>
      <Figure to="/tokens" name={t.tokens} value={formats.number(tokens.active)}>
        {t.tokensOther(tokens.expired, tokens.disabled)}
      </Figure>
      <Figure name={t.edges} value={edges === undefined ? '–' : formats.number(edges.length)}>
        {edges === undefined ? '' : t.hosts(new Set(edges.map(({ host }) => host)).size)}
      </Figure>
      <Figure name={t.requests} value={now.length === 0 ? '–' : formats.number(rateOf(now, 'requests'), 1)}>
        {share === null ? t.noTiles : t.hitRate(formats.percent(share))}
      </Figure>
    </SimpleGrid>
  )
}

function Figure({ name, value, to, children }: { name: string; value: string; to?: string; children: ReactNode }) {
  const content = (
    <>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Text className="figure">{value}</Text>
      <Text size="xs" c="dimmed">
        {children}
      </Text>
    </>
  )
  return to === undefined ? (
    <Paper withBorder px="md" py="xs" className="card">
      {content}
    </Paper>
  ) : (
    <Paper withBorder px="md" py="xs" className="card card-link" component={Link} to={to}>
      {content}
    </Paper>
  )
}
