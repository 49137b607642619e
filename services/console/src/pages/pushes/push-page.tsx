import type { DeliveryAttempt } from '@gateway/contracts/push.js'
import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useParams } from 'react-router'
import { ApiError, segment } from '../../api/client.js'
import { type PushKind, pushedName, pushQuery } from '../../api/pushes.js'
import { useTexts } from '../../texts/texts.js'
import type { Column } from '../../ui/column.js'
import { DataTable } from '../../ui/data-table.js'
import { Facts } from '../../ui/facts.js'
import { TextLink } from '../../ui/links.js'
import { Loaded } from '../../ui/loaded.js'
import { Missing } from '../../ui/missing.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { Status, type Tone } from '../../ui/status.js'
import { Ago, Moment } from '../../ui/time.js'
import { useFormats } from '../../ui/use-formats.js'
import { PushStatus } from './push-status.js'
import { RetryButton } from './retry-button.js'

/** One push: where it stands, and what every attempt at it met. */
export function Page() {
  const t = useTexts()
  const { of: kind = '', id = '' } = useParams()
  const of: PushKind = kind === 'vector' ? 'vector' : 'basemap'
  const query = useQuery(pushQuery(of, id))
  const columns = useColumns()
  const record = query.data
  if (query.error instanceof ApiError && query.error.status === 404) {
    return (
      <Missing title={t.pushes.noSuch} back={{ label: t.pushes.title, to: '/pushes' }}>
        {t.problem.notFound}
      </Missing>
    )
  }
  return (
    <Frame
      title={record === undefined ? t.pushes.push : t.pushes.details(pushedName(record))}
      above={[{ label: t.pushes.title, to: '/pushes' }]}
      actions={record && <RetryButton of={of} record={record} size="sm" variant="filled" />}
    >
      <Loaded query={query} what={t.pushes.what}>
        {(push) => (
          <Stack gap="md">
            <Section title={t.common.status} actions={<PushStatus status={push.status} />}>
              {push.message !== '' && <Text>{push.message}</Text>}
              <Facts
                facts={[
                  [
                    t.pushes.target,
                    <TextLink key="target" to={`/pushes/targets/${segment(push.target_code)}`}>
                      {push.target_code}
                    </TextLink>,
                  ],
                  [t.pushes.attempts, push.attempts],
                  [t.pushes.next, <Ago key="next" at={push.next_attempt_at} fallback="–" />],
                  [t.common.created, <Moment key="created" at={push.created_at} />],
                ]}
              />
            </Section>
            <Section title={t.pushes.attemptLog}>
              {push.attempt_log.length === 0 ? (
                <Text c="dimmed">{t.pushes.noAttempts}</Text>
              ) : (
                <DataTable
                  label={t.pushes.attemptLog}
                  rows={push.attempt_log}
                  columns={columns}
                  rowKey={({ started_at: at }) => at}
                />
              )}
            </Section>
          </Stack>
        )}
      </Loaded>
    </Frame>
  )
}

const TONES: Record<DeliveryAttempt['outcome'], Tone> = { succeeded: 'good', failed: 'bad', interrupted: 'off' }

function useColumns(): readonly Column<DeliveryAttempt>[] {
  const t = useTexts()
  const formats = useFormats()
  return useMemo(
    () => [
      {
        id: 'at',
        header: t.pushes.at,
        value: (attempt) => attempt.started_at,
        cell: (attempt) => <Moment at={attempt.started_at} />,
      },
      {
        id: 'outcome',
        header: t.common.status,
        value: ({ outcome }) => outcome,
        cell: ({ outcome }) => <Status tone={TONES[outcome]}>{t.pushes.outcomes[outcome]}</Status>,
      },
      {
        id: 'http',
        header: t.pushes.http,
        numeric: true,
        value: (attempt) => attempt.http_status ?? 0,
        cell: (attempt) => attempt.http_status ?? t.pushes.noHttp,
      },
      {
        id: 'took',
        header: t.pushes.took,
        numeric: true,
        value: (attempt) => attempt.duration_ms,
        cell: (attempt) => t.map.milliseconds(formats.number(attempt.duration_ms)),
      },
      { id: 'message', header: t.pushes.message, value: ({ message }) => message || '–' },
      {
        id: 'answer',
        header: t.pushes.answer,
        value: ({ answer }) => answer,
        cell: ({ answer }) => (answer === '' ? '–' : <code className="mono wrap">{answer}</code>),
      },
    ],
    [t, formats],
  )
}
