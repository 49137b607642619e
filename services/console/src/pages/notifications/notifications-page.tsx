import type { NotificationRule } from '@gateway/contracts/notification.js'
import type { NotificationRecord } from '@gateway/contracts/push.js'
import { Alert, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import IconBell from '~icons/bell'
import IconMail from '~icons/mail'
import IconTrash from '~icons/trash'
import { NOTIFICATION_RULES, NOTIFICATIONS, useDeleteRule, useTestRule } from '../../api/notifications.js'
import { useAllowed } from '../../api/session.js'
import { settingsQuery } from '../../api/system.js'
import { useTexts } from '../../texts/texts.js'
import { actionsColumn, agoColumn, type Column } from '../../ui/columns.js'
import { Name } from '../../ui/name.js'
import { notifyDone } from '../../ui/notify.js'
import { Page as Frame } from '../../ui/page.js'
import { PageTabs } from '../../ui/page-tabs.js'
import { Section } from '../../ui/section.js'
import { type FiltersOf, ServerTable } from '../../ui/server-table.js'
import { ServerText } from '../../ui/server-text.js'
import { Status, type Tone } from '../../ui/status.js'
import { ActionButton } from '../../ui/write-button.js'
import { RuleForm } from './rule-form.js'

/** The rules for notifications, and the messages that were sent. */
export function Page() {
  const t = useTexts().work.notifications
  return (
    <Frame title={t.title} lead={t.lead}>
      <NoMailServer />
      <PageTabs
        label={t.title}
        tabs={[
          { id: 'rules', label: t.rules, content: <Rules /> },
          { id: 'sent', label: t.sent, content: <Sent /> },
        ]}
      />
    </Frame>
  )
}

function NoMailServer() {
  const t = useTexts().work.notifications
  const items = useQuery(settingsQuery).data?.items
  const isMissing = items?.some(({ name, value }) => name === 'SMTP_FROM' && (value === null || value === ''))
  return isMissing ? <Alert color="blue">{t.noSmtp}</Alert> : null
}

function Rules() {
  const { common, work } = useTexts()
  const t = work.notifications
  const mayChange = useAllowed('admin')
  const columns: readonly Column<NotificationRule>[] = [
    {
      id: 'recipient',
      header: t.recipient,
      value: recipientOf,
      cell: (rule) => (
        <>
          <Name>{recipientOf(rule)}</Name> {!rule.enabled && <Status tone="off">{common.disabled}</Status>}
        </>
      ),
    },
    {
      id: 'by',
      header: t.by,
      value: ({ email }) => (email === null ? t.channels.webhook : t.channels.email),
    },
    {
      id: 'kinds',
      header: t.kindsLabel,
      value: ({ kinds }) => kinds.map((kind) => t.kinds[kind]).join(', '),
      cell: ({ kinds }) => <Text size="sm">{kinds.map((kind) => t.kinds[kind]).join(', ')}</Text>,
    },
    agoColumn('created', common.created, ({ created_at: at }) => at, { sort: 'created_at' }),
    actionsColumn(useTexts(), (rule) => <RuleActions rule={rule} />),
  ]
  return (
    <>
      {mayChange && (
        <Section title={t.add}>
          <RuleForm />
        </Section>
      )}
      <Section title={t.rules}>
        <ServerTable
          source={NOTIFICATION_RULES}
          what={t.what}
          empty={{ title: t.rulesEmpty, icon: IconBell, action: null, advice: t.rulesEmptyAdvice }}
          label={t.rules}
          columns={columns}
          rowKey={({ id }) => id}
          search={t.search}
        />
      </Section>
    </>
  )
}

function RuleActions({ rule }: { rule: NotificationRule }) {
  const t = useTexts().work.notifications
  const to = recipientOf(rule)
  return (
    <Group gap="xs" className="row-actions">
      <ActionButton
        needs="admin"
        size="xs"
        variant="light"
        icon={IconMail}
        write={useTestRule(rule.id)}
        onDone={() => notifyDone(t.tested)}
        failed={t.testFailed}
        aria-label={`${t.test}: ${to}`}
      >
        {t.test}
      </ActionButton>
      <ActionButton
        needs="admin"
        size="xs"
        variant="subtle"
        color="gray"
        icon={IconTrash}
        write={useDeleteRule(rule.id)}
        onDone={() => notifyDone(t.removed)}
        failed={t.removeFailed}
        aria-label={t.remove(to)}
      >
        {''}
      </ActionButton>
    </Group>
  )
}

const TONES: Readonly<Record<NotificationRecord['status'], Tone>> = {
  pending: 'off',
  retrying: 'warning',
  succeeded: 'good',
  failed: 'bad',
}

function Sent() {
  const { common, pushes, work } = useTexts()
  const t = work.notifications
  const states = ['pending', 'retrying', 'succeeded', 'failed'] as const
  const filters: FiltersOf<typeof NOTIFICATIONS> = [
    { name: 'status', label: common.status, options: states.map((state) => [state, t.statuses[state]]) },
  ]
  const kinds: Readonly<Record<string, string>> = { ...t.kinds, test: t.testKind }
  const columns: readonly Column<NotificationRecord>[] = [
    {
      id: 'recipient',
      header: t.recipient,
      value: recipientOf,
      cell: (record) => <Name>{recipientOf(record)}</Name>,
    },
    {
      id: 'about',
      header: t.kindsLabel,
      value: ({ event, subject }) => kinds[event.replace(/^attention\./, '')] ?? subject,
    },
    { id: 'subject', header: t.subject, value: ({ subject }) => subject },
    {
      id: 'status',
      header: common.status,
      sort: 'status',
      value: ({ status }) => status,
      cell: ({ status }) => <Status tone={TONES[status]}>{t.statuses[status]}</Status>,
    },
    {
      id: 'message',
      header: pushes.message,
      share: 25,
      value: ({ message }) => message,
      cell: ({ message, message_code: code, message_params: params }) => (
        <Text size="sm" lineClamp={2}>
          <ServerText text={message || '–'} code={code} params={params} />
        </Text>
      ),
    },
    agoColumn('created', common.created, ({ created_at: at }) => at, { sort: 'created_at' }),
  ]
  return (
    <Section title={t.sent} quiet>
      <ServerTable
        source={NOTIFICATIONS}
        filters={filters}
        what={t.what}
        empty={{ title: t.sentEmpty, icon: IconBell, action: null, advice: t.sentEmptyAdvice }}
        label={t.sent}
        columns={columns}
        rowKey={({ id }) => id}
        search={t.searchSent}
      />
    </Section>
  )
}

function recipientOf({ email, target_code: target }: Pick<NotificationRule, 'email' | 'target_code'>): string {
  return email ?? target ?? ''
}
