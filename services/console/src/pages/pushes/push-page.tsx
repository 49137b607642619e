import type { DeliveryAttempt } from '@gateway/contracts/push.js'
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { segment } from '../../api/client.js'
import {
  type PushDetails,
  type PushKind,
  pushedName,
  pushKind,
  pushQuery,
  useEndPush,
  useRetryPush,
} from '../../api/pushes.js'
import { useParams } from '../../router/hooks.js'
import { useTexts } from '../../texts/texts.js'
import { AcknowledgeButton } from '../../ui/acknowledge-button.js'
import { AsCommand } from '../../ui/as-command.js'
import { CancelButton } from '../../ui/cancel-button.js'
import { type Column, momentColumn } from '../../ui/columns.js'
import { DataTable } from '../../ui/data-table.js'
import { Fact, Facts } from '../../ui/facts.js'
import { Loaded } from '../../ui/loaded.js'
import { NameLink } from '../../ui/name.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { ServerText } from '../../ui/server-text.js'
import { shownText } from '../../ui/shown-text.js'
import { Status, type Tone } from '../../ui/status.js'
import { Ago, Moment } from '../../ui/time.js'
import { useFormats } from '../../ui/use-formats.js'
import { PushedText } from './pushed-text.js'
import { PushStatus } from './records-table.js'
import { RetryButton } from './retry-button.js'
import { SentRequestButton } from './sent-request.js'

/** One push with all its attempts. */
export function Page() {
  const t = useTexts()
  const { of: kind = '', id = '' } = useParams()
  const of = pushKind(kind)
  const missing = { title: t.pushes.noSuch, back: { label: t.pushes.title, to: '/pushes' } }
  return (
    <Loaded query={useQuery(pushQuery(of, id))} what={t.pushes.what} missing={missing}>
      {(push) => <Shown of={of} push={push} />}
    </Loaded>
  )
}

function Shown({ of, push }: { of: PushKind; push: PushDetails }) {
  const t = useTexts()
  const columns = useColumns()
  return (
    <Frame
      title={t.pushes.details(shownText(pushedName(push)))}
      above={[{ label: t.pushes.title, to: '/pushes' }]}
      actions={
        <>
          <CancelPushButton of={of} push={push} />
          <SeenPushButton of={of} push={push} />
          <RetryButton of={of} record={push} size="sm" variant="filled" />
        </>
      }
    >
      <Section title={t.common.status} actions={<PushStatus status={push.status} />}>
        {push.message !== '' && (
          <Text>
            <ServerText text={push.message} code={push.message_code} params={push.message_params} />
          </Text>
        )}
        <Facts>
          <Fact name={t.pushes.pushed}>
            <NameLink to={addressOf(push)} name={pushedName(push)} />
            <PushedText record={push} />
          </Fact>
          <Fact name={t.pushes.target}>
            <NameLink to={`/pushes/targets/${segment(push.target_code)}`} name={push.target_code} />
          </Fact>
          <Fact name={t.pushes.attempts}>{push.attempts}</Fact>
          <Fact name={t.pushes.next}>
            <Ago at={push.next_attempt_at} fallback="–" />
          </Fact>
          <Fact name={t.common.created}>
            <Moment at={push.created_at} />
          </Fact>
        </Facts>
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
        <AsCommand action={t.pushes.retry} command={useRetryPush(of, push.id).commandOf} />
      </Section>
    </Frame>
  )
}

/** Returns the address of the page that shows the pushed item. */
function addressOf(push: PushDetails): string {
  if ('vector_code' in push) return `/vectors/${segment(push.vector_code)}`
  const basemap = `/basemaps/${segment(push.basemap_code)}`
  return push.version === null ? basemap : `${basemap}/versions/${segment(push.version)}`
}

const TONES: Record<DeliveryAttempt['outcome'], Tone> = { succeeded: 'good', failed: 'bad', interrupted: 'off' }

function useColumns(): readonly Column<DeliveryAttempt>[] {
  const t = useTexts()
  const formats = useFormats()
  return [
    momentColumn('at', t.pushes.at, ({ started_at: at }) => at),
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
    {
      id: 'message',
      header: t.pushes.message,
      value: ({ message }) => message || '–',
      cell: ({ message, message_code, message_params }) => (
        <ServerText text={message || '–'} code={message_code} params={message_params} />
      ),
    },
    {
      id: 'answer',
      header: t.pushes.answer,
      value: ({ answer }) => answer,
      cell: ({ answer }) => (answer === '' ? '–' : <code className="mono wrap">{answer}</code>),
    },
    {
      id: 'request',
      header: t.pushes.request,
      value: ({ request }) => request?.url ?? '',
      cell: ({ request }) => <SentRequestButton request={request} />,
    },
  ]
}

interface EndButtonProps {
  readonly of: PushKind
  readonly push: PushDetails
}

/** Cancels a push in progress. Renders nothing for other pushes. */
function CancelPushButton({ of, push }: EndButtonProps) {
  const t = useTexts().pushes
  const cancel = useEndPush(of, push.id, 'cancel')
  const name = pushedName(push)
  return push.next_attempt_at === null ? null : (
    <CancelButton texts={t} title={t.cancelTitle(name)} name={name} write={cancel} />
  )
}

/** Marks a failed push as seen. Renders nothing if the push has not failed or was already seen. */
function SeenPushButton({ of, push }: EndButtonProps) {
  const seen = useEndPush(of, push.id, 'acknowledge')
  return push.status === 'failed' && push.acknowledged_at === null ? <AcknowledgeButton write={seen} /> : null
}
