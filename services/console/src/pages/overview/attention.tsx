import type { EdgePresence } from '@gateway/contracts/edge.js'
import { Group, List, Text, ThemeIcon } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type List as ApiList, segment } from '../../api/client.js'
import { FAILED_EXPORTS, failedExportsQuery } from '../../api/exports.js'
import { NOT_SEEN } from '../../api/list.js'
import { failedPushesQuery, PUSH_KINDS, pushedName } from '../../api/pushes.js'
import { failedJobsQuery } from '../../api/slicing.js'
import type { Dashboard } from '../../api/system.js'
import { EXPIRES_WITHIN_DAYS, EXPIRING_TOKENS, expiringTokensQuery } from '../../api/tokens.js'
import { useTexts } from '../../texts/texts.js'
import { TextLink } from '../../ui/links.js'
import { Section } from '../../ui/section.js'
import { ServerText } from '../../ui/server-text.js'
import { shortText } from '../../ui/shown-text.js'

/** What was withdrawn, or is of a disabled source, is not missed where it is unavailable. */
const MISSED = '?available=false&withdrawn=false&source_enabled=true'

/** Failures of one kind that are named; of more there is a link to their list. */
const SHOWN = 5

interface Finding {
  readonly key: string
  readonly words: string
  readonly detail: string
  readonly to?: string
}

/** What an operator should look at, each with a link. */
export function Attention(props: { dashboard: Dashboard; edges: readonly EdgePresence[] | undefined }) {
  const t = useTexts()
  const findings = useFindings(props.dashboard, props.edges)
  return (
    <Section title={t.overview.attention}>
      {findings.length === 0 ? (
        <Group gap="xs" wrap="nowrap">
          <ThemeIcon variant="light" color="teal" radius="xl" size="md">
            <IconCircleCheck size={18} aria-hidden />
          </ThemeIcon>
          <Text>{t.overview.nothingToDo}</Text>
        </Group>
      ) : (
        <List spacing="sm" listStyleType="none" icon={<FindingIcon />}>
          {findings.map(({ key, words, detail, to }) => (
            <List.Item key={key}>
              {to === undefined ? <Text fw={550}>{words}</Text> : <TextLink to={to}>{words}</TextLink>}
              {detail !== '' && (
                <Text size="sm" c="dimmed" lineClamp={2}>
                  <ServerText text={detail} />
                </Text>
              )}
            </List.Item>
          ))}
        </List>
      )}
    </Section>
  )
}

function FindingIcon() {
  return (
    <ThemeIcon variant="light" color="orange" radius="xl" size="md">
      <IconAlertTriangle size={16} aria-hidden />
    </ThemeIcon>
  )
}

function useFindings(dashboard: Dashboard, edges: readonly EdgePresence[] | undefined): readonly Finding[] {
  const t = useTexts().overview
  const jobs = useQuery(failedJobsQuery(SHOWN)).data
  const failed = {
    basemap: useQuery(failedPushesQuery('basemap', SHOWN)).data,
    vector: useQuery(failedPushesQuery('vector', SHOWN)).data,
    purge: useQuery(failedPushesQuery('purge', SHOWN)).data,
  }
  const exports = useQuery(failedExportsQuery).data
  const { ledger, pushes, scan_sources: sources } = dashboard
  const findings: Finding[] = []
  const add = (key: string, words: string, detail = '', to?: string) =>
    findings.push({ key, words, detail, ...(to !== undefined && { to }) })
  const addMore = (key: string, list: ApiList<unknown> | undefined, page: string) => {
    const more = (list?.total ?? 0) - (list?.items.length ?? 0)
    if (more > 0) add(key, t.moreFailed(more), '', `${page}${new URLSearchParams(NOT_SEEN)}`)
  }
  const { items: expiring = [], total: expiringCount = 0 } = useQuery(expiringTokensQuery(SHOWN)).data ?? {}
  const wordsOf: Readonly<Record<string, string>> = t.warnings
  for (const { code, message } of dashboard.warnings ?? []) add(code, wordsOf[code] ?? message, '', '/settings')
  if (edges?.length === 0) add('edges', t.noEdge, t.noEdgeAdvice)
  const newest = Math.max(0, ...(edges ?? []).map((edge) => edge.applied_revision))
  for (const { id, host, pid, applied_revision: revision } of edges ?? []) {
    if (newest > revision) add(id, t.edgeBehind(host, pid, newest - revision))
  }
  const { versions_unavailable: versions, vectors_unavailable: vectors } = ledger
  if (versions > 0) add('versions', t.versionsMissing(versions), '', `/versions${MISSED}`)
  if (vectors > 0) add('vectors', t.vectorsMissing(vectors), '', `/vectors${MISSED}`)
  if (expiringCount > 0) {
    const names = expiring.map(({ name }) => shortText(name)).join(', ')
    add('tokens', t.tokensExpiring(expiringCount, EXPIRES_WITHIN_DAYS), names, EXPIRING_TOKENS)
  }
  for (const { code, last_scan: scan } of sources) {
    if (scan?.status !== 'failed') continue
    add(`scan ${code}`, t.scanFailed(shortText(code)), scan.message, `/sources/${segment(code)}`)
  }
  for (const of of PUSH_KINDS) {
    const known = of === 'purge' ? [] : pushes[`${of}_records`]
    const retrying = known.filter(({ status }) => status === 'retrying')
    const failing = of === 'purge' ? t.purgeFailing : t.pushFailing
    for (const record of [...retrying, ...(failed[of]?.items ?? [])]) {
      const words = failing(shortText(pushedName(record)), shortText(record.target_code))
      add(record.id, words, record.message, `/pushes/${of}/${record.id}`)
    }
    addMore(`more ${of} pushes`, failed[of], `/pushes?of=${of}&`)
  }
  if (exports !== undefined && exports.total > 0) {
    add('exports', t.exportsFailed(exports.total), exports.items[0]?.message ?? '', FAILED_EXPORTS)
  }
  for (const job of jobs?.items ?? []) {
    add(job.id, t.jobFailed(shortText(job.name || job.target_code)), job.message, `/slicing/jobs/${job.id}`)
  }
  addMore('more jobs', jobs, '/slicing?cancelled=false&')
  return findings
}
