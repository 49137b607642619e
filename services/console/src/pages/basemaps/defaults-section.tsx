import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type DefaultSwitch, defaultHistoryQuery, useCancelSwitch } from '../../api/catalog.js'
import { useTexts } from '../../texts/texts.js'
import { type Column, momentColumn } from '../../ui/columns.js'
import { ConfirmButton } from '../../ui/confirm.js'
import { DataTable } from '../../ui/data-table.js'
import { Fact, Facts } from '../../ui/facts.js'
import { Loaded } from '../../ui/loaded.js'
import { Name } from '../../ui/name.js'
import { notifyDone } from '../../ui/notify.js'
import { reported } from '../../ui/reported.js'
import { Section } from '../../ui/section.js'
import { Moment } from '../../ui/time.js'

/** The pending switch, and the history of default versions. */
export function DefaultsSection({ basemap }: { basemap: AdminBasemap }) {
  const t = useTexts().automation
  const query = useQuery(defaultHistoryQuery(basemap.code))
  const columns = useColumns()
  const spans = useSpanColumns()
  return (
    <Loaded query={query} what={t.whatHistory}>
      {({ items, switches }) => {
        const open = switches.find(({ status }) => status === 'pending' || status === 'canary')
        return (
          <>
            <Section title={t.pending} actions={open && <CancelButton code={basemap.code} />}>
              {open === undefined ? <Text c="dimmed">{t.noPending}</Text> : <Pending one={open} />}
            </Section>
            <Section title={t.history}>
              <DataTable label={t.history} rows={items} columns={spans} rowKey={({ since }) => since} />
            </Section>
            {switches.length > 0 && (
              <Section title={t.switches}>
                <DataTable label={t.switches} rows={switches} columns={columns} rowKey={({ id }) => id} />
              </Section>
            )}
          </>
        )
      }}
    </Loaded>
  )
}

function Pending({ one }: { one: DefaultSwitch }) {
  const t = useTexts()
  const { automation } = t
  const { canary } = one
  return (
    <Facts>
      <Fact name={t.common.version}>
        <Name>{one.version}</Name>
      </Fact>
      <Fact name={automation.status}>{automation.statuses[one.status]}</Fact>
      <Fact name={canary === null ? automation.at : automation.endsAt}>
        <Moment at={canary?.ends_at ?? one.at} />
      </Fact>
      {canary !== null && (
        <>
          <Fact name={automation.share}>{automation.shareOf(canary.percent, canary.minutes)}</Fact>
          <Fact name={automation.before}>{countsText(automation, canary.before)}</Fact>
          <Fact name={automation.after}>{countsText(automation, canary.after)}</Fact>
        </>
      )}
    </Facts>
  )
}

type Counts = NonNullable<DefaultSwitch['canary']>['before']

function countsText(t: ReturnType<typeof useTexts>['automation'], { requests, missing, failed }: Counts): string {
  return t.counts(requests, missing, failed)
}

function CancelButton({ code }: { code: string }) {
  const t = useTexts().automation
  const cancel = useCancelSwitch(code)
  const confirm = (close: () => void) =>
    reported(cancel.mutateAsync(), () => {
      notifyDone(t.cancelled)
      close()
    })
  return (
    <ConfirmButton
      button={{ needs: 'operator', size: 'compact-sm', variant: 'default' }}
      title={t.cancelTitle}
      action={t.cancel}
      write={cancel}
      command={cancel.commandOf()}
      onConfirm={confirm}
      failed={t.cancelFailed}
    >
      <Text>{t.cancelWords}</Text>
    </ConfirmButton>
  )
}

interface Span {
  readonly version: string | null
  readonly since: string
  readonly until: string | null
}

function useSpanColumns(): readonly Column<Span>[] {
  const t = useTexts()
  return [
    {
      id: 'version',
      header: t.common.version,
      value: ({ version }) => version ?? t.automation.none,
      cell: ({ version }) => (version === null ? t.automation.none : <Name>{version}</Name>),
    },
    momentColumn('since', t.automation.since, ({ since }) => since),
    {
      id: 'until',
      header: t.automation.until,
      value: ({ until }) => until ?? '',
      cell: ({ until }) => (until === null ? t.automation.isNow : <Moment at={until} />),
    },
  ]
}

function useColumns(): readonly Column<DefaultSwitch>[] {
  const t = useTexts()
  const { automation } = t
  return [
    {
      id: 'switched',
      header: t.common.version,
      value: ({ version }) => version,
      cell: ({ version }) => <Name>{version}</Name>,
    },
    momentColumn('at', automation.at, ({ at }) => at),
    { id: 'status', header: automation.status, value: ({ status }) => automation.statuses[status] },
    {
      id: 'share',
      header: automation.share,
      value: ({ canary }) => (canary === null ? '–' : automation.shareOf(canary.percent, canary.minutes)),
    },
    {
      id: 'before',
      header: automation.before,
      value: ({ canary }) => (canary === null ? '–' : countsText(automation, canary.before)),
    },
    {
      id: 'after',
      header: automation.after,
      value: ({ canary }) => (canary === null ? '–' : countsText(automation, canary.after)),
    },
  ]
}
