import type { EdgePresence } from '@gateway/contracts/edge.js'
import { Group, List, Text, ThemeIcon } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { pushedName } from '../../api/pushes.js'
import { sliceJobsQuery } from '../../api/slicing.js'
import type { Dashboard } from '../../api/system.js'
import { useTexts } from '../../texts/texts.js'
import { TextLink } from '../../ui/links.js'
import { Section } from '../../ui/section.js'

interface Trouble {
  readonly key: string
  readonly words: string
  readonly detail: string
  readonly to?: string
}

/** What an operator should look at, each with the way there. */
export function Attention(props: { dashboard: Dashboard; edges: readonly EdgePresence[] | undefined }) {
  const t = useTexts()
  const troubles = useTroubles(props.dashboard, props.edges)
  return (
    <Section title={t.overview.attention}>
      {troubles.length === 0 ? (
        <Group gap="xs" wrap="nowrap">
          <ThemeIcon variant="light" color="teal" radius="xl" size="md">
            <IconCircleCheck size={18} aria-hidden />
          </ThemeIcon>
          <Text>{t.overview.nothingToDo}</Text>
        </Group>
      ) : (
        <List spacing="sm" listStyleType="none" icon={<TroubleIcon />}>
          {troubles.map(({ key, words, detail, to }) => (
            <List.Item key={key}>
              <Words to={to}>{words}</Words>
              {detail !== '' && (
                <Text size="sm" c="dimmed" lineClamp={2}>
                  {detail}
                </Text>
              )}
            </List.Item>
          ))}
        </List>
      )}
    </Section>
  )
}

function TroubleIcon() {
  return (
    <ThemeIcon variant="light" color="orange" radius="xl" size="md">
      <IconAlertTriangle size={16} aria-hidden />
    </ThemeIcon>
  )
}

function Words({ to, children }: { to: string | undefined; children: ReactNode }) {
  return to === undefined ? <Text fw={550}>{children}</Text> : <TextLink to={to}>{children}</TextLink>
}

function useTroubles(dashboard: Dashboard, edges: readonly EdgePresence[] | undefined): readonly Trouble[] {
  const t = useTexts().overview
  const jobs = useQuery(sliceJobsQuery)
  const { ledger, pushes, scan_sources: sources } = dashboard
  const troubles: Trouble[] = []
  if (edges?.length === 0) troubles.push({ key: 'edges', words: t.noEdge, detail: t.noEdgeAdvice })
  const newest = Math.max(0, ...(edges ?? []).map((edge) => edge.applied_revision))
  for (const { id, host, pid, applied_revision: revision } of edges ?? []) {
    if (newest - revision > 0) troubles.push({ key: id, words: t.edgeBehind(host, pid, newest - revision), detail: '' })
  }
  if (ledger.versions_unavailable > 0) {
    troubles.push({
      key: 'versions',
      words: t.versionsMissing(ledger.versions_unavailable),
      detail: '',
      to: '/basemaps',
    })
  }
  if (ledger.vectors_unavailable > 0) {
    troubles.push({ key: 'vectors', words: t.vectorsMissing(ledger.vectors_unavailable), detail: '', to: '/vectors' })
  }
  for (const { code, last_scan: scan } of sources) {
    if (scan?.status === 'failed') {
      troubles.push({
        key: `scan ${code}`,
        words: t.scanFailed(code),
        detail: scan.message,
        to: `/sources/${encodeURIComponent(code)}`,
      })
    }
  }
  for (const [of, records] of [
    ['basemap', pushes.basemap_records],
    ['vector', pushes.vector_records],
  ] as const) {
    for (const record of records) {
      if (record.status !== 'failed' && record.status !== 'retrying') continue
      const words = t.pushFailing(pushedName(record), record.target_code)
      troubles.push({ key: record.id, words, detail: record.message, to: `/pushes/${of}/${record.id}` })
    }
  }
  for (const job of jobs.data?.items.slice(0, 1) ?? []) {
    if (job.status !== 'failed') continue
    troubles.push({
      key: job.id,
      words: t.jobFailed(job.name || job.target_code),
      detail: job.message,
      to: `/slicing/jobs/${job.id}`,
    })
  }
  return troubles
}
