import type { Scan, ScanSource } from '@gateway/contracts/scan-source.js'
import { Button, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  deleteScanSource,
  type ScanWarning,
  scanSourceQuery,
  scansQuery,
  scanWarningsQuery,
  useSaveScanSource,
} from '../../api/scan-sources.js'
import { useParams } from '../../router/hooks.js'
import { useTexts } from '../../texts/texts.js'
import { type Column, momentColumn } from '../../ui/columns.js'
import { DataTable } from '../../ui/data-table.js'
import { DeleteButton } from '../../ui/delete.js'
import { ButtonLink, TextLink } from '../../ui/links.js'
import { Loaded } from '../../ui/loaded.js'
import { MoreMenu } from '../../ui/more-menu.js'
import { notifyDone } from '../../ui/notify.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { ServerText } from '../../ui/server-text.js'
import { shortText, shownText } from '../../ui/shown-text.js'
import { Moment } from '../../ui/time.js'
import { useFormats } from '../../ui/use-formats.js'
import { BuildsSection } from './builds-section.js'
import { ScanButton } from './scan-button.js'
import { ScanStatus, useScanStatus } from './scan-status.js'
import { SourceForm } from './source-form.js'
import { REMOTE, Storage } from './source-storage.js'

export function Page() {
  const t = useTexts()
  const { code = '' } = useParams()
  return (
    <Loaded
      query={useQuery(scanSourceQuery(code))}
      what={t.sources.what}
      missing={{ title: t.sources.noSuch(shortText(code)), back: { label: t.sources.title, to: '/sources' } }}
    >
      {(source) => (
        <Frame
          title={source.name}
          above={[{ label: t.sources.title, to: '/sources' }]}
          actions={<Actions source={source} />}
        >
          {source.next_scan_at !== null && (
            <Text c="dimmed">
              {t.automation.nextScan}: <Moment at={source.next_scan_at} />
            </Text>
          )}
          {source.watch_problem !== null && <Text c="orange">{shownText(source.watch_problem)}</Text>}
          {REMOTE.test(source.path) && <Storage key={source.path} source={source} />}
          <History source={source} />
          <BuildsSection source={source} />
          <Edit source={source} />
        </Frame>
      )}
    </Loaded>
  )
}

function Actions({ source }: { source: ScanSource }) {
  const t = useTexts()
  return (
    <>
      <ButtonLink to={`/${source.kind}s?${new URLSearchParams({ source_code: source.code })}`} variant="default">
        {t.sources.show(source.kind)}
      </ButtonLink>
      <MoreMenu needs="admin">
        <DeleteButton
          deletion={() => deleteScanSource(source.code)}
          name={source.name}
          words={t.remove.source}
          to="/sources"
        />
      </MoreMenu>
      <ScanButton source={source} size="sm" variant="filled" />
    </>
  )
}

function Edit({ source }: { source: ScanSource }) {
  const t = useTexts()
  const save = useSaveScanSource(false)
  const [saves, setSaves] = useState(0)
  return (
    <Section title={t.sources.edit}>
      <SourceForm
        // The key reloads the form with the saved values, which the service may have completed.
        key={saves}
        source={source}
        pending={save.isPending}
        error={save.error}
        commandOf={save.commandOf}
        onSave={(body) =>
          save.mutate(body, {
            onSuccess: () => {
              notifyDone(t.sources.saved(shortText(body.code)))
              setSaves(saves + 1)
            },
          })
        }
      />
    </Section>
  )
}

function History({ source }: { source: ScanSource }) {
  const t = useTexts()
  const query = useQuery(scansQuery(source.code))
  const [opened, setOpened] = useState<Scan | null>(null)
  const columns = useColumns(source, setOpened)
  return (
    <>
      <Section title={t.sources.history}>
        <Loaded query={query} what={t.sources.whatHistory}>
          {({ items }) =>
            items.length === 0 ? (
              <Text c="dimmed">{t.sources.noHistory}</Text>
            ) : (
              <DataTable
                label={t.sources.history}
                rows={items}
                columns={columns}
                rowKey={({ id }) => id}
                sortedBy="-started"
              />
            )
          }
        </Loaded>
      </Section>
      {opened !== null && <Warnings source={source} scan={opened} />}
    </>
  )
}

/** The files that a scan left out, one per row. */
function Warnings({ source, scan }: { source: ScanSource; scan: Scan }) {
  const t = useTexts()
  const formats = useFormats()
  const query = useQuery(scanWarningsQuery(source.code, scan.id))
  const columns: readonly Column<ScanWarning>[] = [
    { id: 'number', header: t.sources.number, numeric: true, value: ({ number }) => number },
    {
      id: 'message',
      header: t.sources.message,
      value: ({ message }) => message,
      cell: ({ message, message_code, message_params }) => (
        <ServerText text={message} code={message_code} params={message_params} />
      ),
    },
  ]
  return (
    <Section title={t.sources.warningsOf(formats.dateTime(scan.started_at))}>
      <Loaded query={query} what={t.sources.whatWarnings}>
        {({ items }) => (
          <>
            {items.length < scan.warnings && <Text c="dimmed">{t.sources.firstOf(items.length, scan.warnings)}</Text>}
            <DataTable
              label={t.sources.warnings(scan.warnings)}
              rows={items}
              columns={columns}
              rowKey={({ number }) => String(number)}
            />
          </>
        )}
      </Loaded>
    </Section>
  )
}

function useColumns({ kind }: ScanSource, onWarnings: (scan: Scan) => void): readonly Column<Scan>[] {
  const t = useTexts()
  const formats = useFormats()
  const statusOf = useScanStatus()
  const count = (id: 'added' | 'updated' | 'missing'): Column<Scan> => ({
    id,
    header: t.sources[id],
    numeric: true,
    value: (scan) => scan[id],
    cell: (scan) => formats.number(scan[id]),
  })
  return [
    momentColumn('started', t.sources.started, ({ started_at: at }) => at),
    {
      id: 'status',
      header: t.common.status,
      value: statusOf,
      cell: (scan) => <ScanStatus scan={scan} />,
    },
    {
      id: 'reason',
      header: t.automation.scanReason,
      value: ({ reason, changed }) =>
        [t.automation.reasons[reason], ...(changed === null ? [] : [t.automation.changedPaths(changed.length)])].join(
          ': ',
        ),
    },
    {
      ...count('added'),
      cell: ({ id, added }) =>
        added === 0 ? (
          formats.number(added)
        ) : (
          <TextLink to={`${LIST_OF[kind]}?scan=${id}`} aria-label={t.sources.foundBy(formats.number(added))}>
            {formats.number(added)}
          </TextLink>
        ),
    },
    count('updated'),
    count('missing'),
    {
      id: 'took',
      header: t.sources.took,
      numeric: true,
      value: tookSeconds,
      cell: (scan) => (scan.finished_at === null ? '–' : formats.duration(tookSeconds(scan))),
    },
    {
      id: 'message',
      header: t.sources.message,
      share: 35,
      value: (scan) => scan.message || '–',
      cell: (scan) =>
        scan.warnings === 0 ? (
          <Text size="sm" lineClamp={2}>
            <ServerText text={scan.message || '–'} code={scan.message_code} params={scan.message_params} />
          </Text>
        ) : (
          <Button variant="subtle" size="compact-sm" onClick={() => onWarnings(scan)}>
            {t.sources.warnings(scan.warnings)}
          </Button>
        ),
    },
  ]
}

/** The lists of what scans count. */
const LIST_OF = {
  basemap: '/versions',
  vector: '/vectors',
  style: '/styles',
  postgis: '/vectors',
  service: '/versions',
} as const

function tookSeconds(scan: Scan): number {
  return scan.finished_at === null ? 0 : (Date.parse(scan.finished_at) - Date.parse(scan.started_at)) / 1000
}
