import type { EdgePresence } from '@gateway/contracts/edge.js'
import { Button, Group, Stack, Text, ThemeIcon } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import IconAlertTriangle from '~icons/alert-triangle'
import IconCircleCheck from '~icons/circle-check'
import IconRefresh from '~icons/refresh'
import { type List as ApiList, segment } from '../../api/client.js'
import { FAILED_EXPORTS, failedExportsQuery } from '../../api/exports.js'
import { NOT_SEEN } from '../../api/list.js'
import {
  type AnyPush,
  type BulkPushKind,
  failedPushesQuery,
  PUSH_KINDS,
  pushedName,
  useRetryPushes,
} from '../../api/pushes.js'
import { failedJobsQuery } from '../../api/slicing.js'
import type { Dashboard } from '../../api/system.js'
import { EXPIRES_WITHIN_DAYS, EXPIRING_TOKENS, expiringTokensQuery } from '../../api/tokens.js'
import { useTexts } from '../../texts/texts.js'
import { TextLink } from '../../ui/links.js'
import { notifyDone, notifyFailed } from '../../ui/notify.js'
import { Section } from '../../ui/section.js'
import { type ServerMessage, ServerText } from '../../ui/server-text.js'
import { shortText } from '../../ui/shown-text.js'
import { ActionButton } from '../../ui/write-button.js'

/** Query for unavailable versions, without those that are withdrawn or whose source is disabled. */
const MISSED = '?available=false&withdrawn=false&source_enabled=true'

/** Vectors whose tiles could not be built, as the figure counts them. */
const UNBUILT = '?tiles_status=failed&available=true&withdrawn=false&source_enabled=true'

/** Jobs and tokens that are named; of more there is a link to their list. */
const SHOWN = 5

/** Maximum number of failed pushes of one kind that are grouped; the rest is one link to their list. */
const GROUPED = 500

interface Finding {
  readonly key: string
  readonly words: string
  readonly detail: ServerMessage
  readonly to?: string
  /** failures that one call can retry */
  readonly failures?: Failures
}

/** Deliveries of one kind that failed at one target for one reason. */
interface Failures {
  readonly of: BulkPushKind
  readonly ids: readonly string[]
}

/** Maximum number of lines before the user asks for the rest, so that the figures of the page stay in view. */
const LINES = 7

/** Problems that an operator should look at, grouped by cause, each with a link. */
export function Attention(props: { dashboard: Dashboard; edges: readonly EdgePresence[] | undefined }) {
  const t = useTexts()
  const [isOpen, setOpen] = useState(false)
  const findings = useFindings(props.dashboard, props.edges)
  const isCut = !isOpen && findings.length > LINES
  return (
    <Section title={t.overview.attention}>
      {findings.length === 0 ? (
        <Group gap="xs" wrap="nowrap">
          <ThemeIcon variant="light" color="teal" radius="xl" size="md">
            <IconCircleCheck size={18} />
          </ThemeIcon>
          <Text>{t.overview.nothingToDo}</Text>
        </Group>
      ) : (
        <Stack gap={6} component="ul" p={0} m={0} className="findings">
          {(isCut ? findings.slice(0, LINES - 1) : findings).map((finding) => (
            <FindingLine key={finding.key} finding={finding} />
          ))}
          {isCut && (
            <li>
              <Button variant="subtle" size="compact-sm" onClick={() => setOpen(true)}>
                {t.overview.showMore(findings.length - LINES + 1)}
              </Button>
            </li>
          )}
        </Stack>
      )}
    </Section>
  )
}

function FindingLine({ finding: { words, detail, to, failures } }: { finding: Finding }) {
  return (
    <Group component="li" gap="xs" wrap="nowrap">
      <FindingIcon />
      <Group gap="xs" wrap="nowrap" fz="sm" flex={1} miw={0}>
        {to === undefined ? (
          <Text span inherit fw={550} truncate>
            {words}
          </Text>
        ) : (
          <TextLink to={to} truncate flex="none" maw="100%">
            {words}
          </TextLink>
        )}
        {detail.text !== '' && (
          <Text span inherit c="dimmed" truncate>
            <ServerText {...detail} />
          </Text>
        )}
      </Group>
      {failures !== undefined && <RetryAll {...failures} />}
    </Group>
  )
}

function RetryAll({ of, ids }: Failures) {
  const t = useTexts().overview
  return (
    <ActionButton
      needs="operator"
      size="compact-xs"
      variant="light"
      icon={IconRefresh}
      write={useRetryPushes(of, ids)}
      onDone={({ done, failed }) => {
        if (done > 0) notifyDone(t.retriedAll(done))
        if (failed.length > 0) notifyFailed(t.notRetried(failed.length), new Error(failed[0]?.error))
      }}
      failed={t.notRetried(ids.length)}
    >
      {t.retryAll}
    </ActionButton>
  )
}

function FindingIcon() {
  return (
    <ThemeIcon variant="light" color="orange" radius="xl" size="sm">
      <IconAlertTriangle size={14} />
    </ThemeIcon>
  )
}

type Said = Pick<AnyPush, 'message' | 'message_code' | 'message_params'>

function useFindings(dashboard: Dashboard, edges: readonly EdgePresence[] | undefined): readonly Finding[] {
  const t = useTexts().overview
  const jobs = useQuery(failedJobsQuery(SHOWN)).data
  const failed = {
    basemap: useQuery(failedPushesQuery('basemap', GROUPED)).data,
    vector: useQuery(failedPushesQuery('vector', GROUPED)).data,
    purge: useQuery(failedPushesQuery('purge', GROUPED)).data,
  }
  const exports = useQuery(failedExportsQuery).data
  const { ledger, pushes, scan_sources: sources } = dashboard
  const findings: Finding[] = []
  const add = (key: string, words: string, detail = '', to?: string, more: Partial<Finding> = {}) =>
    findings.push({ key, words, detail: { text: detail }, ...(to !== undefined && { to }), ...more })
  /** Adds a finding whose detail is a message of the service. */
  const addSaid = (key: string, words: string, said: Said | undefined, to: string, more: Partial<Finding> = {}) =>
    add(key, words, '', to, {
      ...more,
      detail: { text: said?.message ?? '', code: said?.message_code, params: said?.message_params },
    })
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
  const { versions_unavailable: versions, vectors_unavailable: vectors, vectors_unbuilt: unbuilt } = ledger
  if (versions > 0) add('versions', t.versionsMissing(versions), '', `/versions${MISSED}`)
  if (vectors > 0) add('vectors', t.vectorsMissing(vectors), '', `/vectors${MISSED}`)
  if (unbuilt > 0) add('unbuilt', t.vectorsUnbuilt(unbuilt), '', `/vectors${UNBUILT}`)
  if (expiringCount > 0) {
    const names = expiring.map(({ name }) => shortText(name)).join(', ')
    add('tokens', t.tokensExpiring(expiringCount, EXPIRES_WITHIN_DAYS), names, EXPIRING_TOKENS)
  }
  for (const { code, last_scan: scan } of sources) {
    if (scan?.status !== 'failed') continue
    addSaid(`scan ${code}`, t.scanFailed(shortText(code)), scan, `/sources/${segment(code)}`)
  }
  for (const of of PUSH_KINDS) {
    const known = of === 'purge' ? [] : pushes[`${of}_records`]
    const retrying = known.filter(({ status }) => status === 'retrying')
    const failing = of === 'purge' ? t.purgeFailing : t.pushFailing
    for (const record of retrying) {
      const words = failing(shortText(pushedName(record)), shortText(record.target_code))
      addSaid(record.id, words, record, `/pushes/${of}/${record.id}`)
    }
    for (const records of byCause(failed[of]?.items ?? [])) {
      const [record] = records
      const { target_code: target } = record
      const ids = records.map(({ id }) => id)
      const isOne = records.length === 1
      const words = isOne
        ? failing(shortText(pushedName(record)), shortText(target))
        : t.manyFailed(shortText(target), ids.length)
      const list = new URLSearchParams({ ...(of !== 'basemap' && { of }), ...NOT_SEEN, target_code: target })
      addSaid(`${of} ${record.id}`, words, record, isOne ? `/pushes/${of}/${record.id}` : `/pushes?${list}`, {
        ...(of !== 'purge' && !isOne && { failures: { of, ids } }),
      })
    }
    addMore(`more ${of} pushes`, failed[of], `/pushes?of=${of}&`)
  }
  if (exports !== undefined && exports.total > 0) {
    addSaid('exports', t.exportsFailed(exports.total), exports.items[0], FAILED_EXPORTS)
  }
  for (const job of jobs?.items ?? []) {
    addSaid(job.id, t.jobFailed(shortText(job.name || job.target_code)), job, `/slicing/jobs/${job.id}`)
  }
  addMore('more jobs', jobs, '/slicing?cancelled=false&')
  return findings
}

type Some<T> = readonly [T, ...T[]]

/** Groups failures by target and reason, the largest group first. */
function byCause(records: readonly AnyPush[]): readonly Some<AnyPush>[] {
  const groups = new Map<string, [AnyPush, ...AnyPush[]]>()
  for (const record of records) {
    const cause = JSON.stringify([record.target_code, record.message])
    const group = groups.get(cause)
    if (group === undefined) groups.set(cause, [record])
    else group.push(record)
  }
  return [...groups.values()].sort((a, b) => b.length - a.length)
}
