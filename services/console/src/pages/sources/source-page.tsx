import type { Scan, ScanSource } from '@gateway/contracts/scan-source.js'
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useParams } from 'react-router'
import { segment } from '../../api/client.js'
import { scanSourcesQuery, scansQuery, useSaveScanSource } from '../../api/scan-sources.js'
import { useTexts } from '../../texts/texts.js'
import type { Column } from '../../ui/column.js'
import { DataTable } from '../../ui/data-table.js'
import { Empty } from '../../ui/empty.js'
import { ButtonLink } from '../../ui/links.js'
import { Loaded } from '../../ui/loaded.js'
import { notifyDone } from '../../ui/notify.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { Moment } from '../../ui/time.js'
import { useFormats } from '../../ui/use-formats.js'
import { ScanButton } from './scan-button.js'
import { ScanStatus } from './scan-status.js'
import { SourceForm } from './source-form.js'

export function Page() {
  const t = useTexts()
  const { code = '' } = useParams()
  const query = useQuery(scanSourcesQuery)
  const source = query.data?.items.find((one) => one.code === code)
  return (
    <Frame
      title={source?.name ?? code}
      above={[{ label: t.sources.title, to: '/sources' }]}
      actions={
        source && (
          <>
            <ButtonLink to={source.kind === 'basemap' ? '/basemaps' : '/vectors'} variant="default">
              {t.sources.show(source.kind)}
            </ButtonLink>
            <ScanButton source={source} size="sm" variant="filled" />
          </>
        )
      }
    >
      <Loaded query={query} what={t.sources.what}>
        {() =>
          source === undefined ? (
            <Empty title={t.sources.noSuch(code)} action={<ButtonLink to="/sources">{t.sources.title}</ButtonLink>}>
              {t.problem.notFound}
            </Empty>
          ) : (
            <>
              <History source={source} />
              <Edit source={source} />
            </>
          )
        }
      </Loaded>
    </Frame>
  )
}

function Edit({ source }: { source: ScanSource }) {
  const t = useTexts()
  const save = useSaveScanSource()
  return (
    <Section title={t.sources.edit}>
      <SourceForm
        // A change that was made elsewhere begins the form anew.
        key={JSON.stringify([source.name, source.path, source.enabled])}
        source={source}
        pending={save.isPending}
        error={save.error}
        onSave={(body) => save.mutate(body, { onSuccess: () => notifyDone(t.sources.saved(body.code)) })}
      />
    </Section>
  )
}

function History({ source }: { source: ScanSource }) {
  const t = useTexts()
  const query = useQuery(scansQuery(segment(source.code)))
  const columns = useColumns()
  return (
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
              rowKey={({ started_at: at }) => at}
              sortedBy={{ id: 'started', desc: true }}
            />
          )
        }
      </Loaded>
    </Section>
  )
}

function useColumns(): readonly Column<Scan>[] {
  const t = useTexts()
  const formats = useFormats()
  return useMemo(() => {
    const count = (id: 'added' | 'updated' | 'missing'): Column<Scan> => ({
      id,
      header: t.sources[id],
      numeric: true,
      value: (scan) => scan[id],
      cell: (scan) => formats.number(scan[id]),
    })
    return [
      {
        id: 'started',
        header: t.sources.started,
        value: (scan) => scan.started_at,
        cell: (scan) => <Moment at={scan.started_at} />,
      },
      {
        id: 'status',
        header: t.common.status,
        value: (scan) => t.sources.statuses[scan.status],
        cell: (scan) => <ScanStatus scan={scan} />,
      },
      count('added'),
      count('updated'),
      count('missing'),
      {
        id: 'took',
        header: t.sources.took,
        numeric: true,
        value: tookSeconds,
        cell: (scan) => (scan.finished_at === null ? '–' : t.settings.seconds(Number(tookSeconds(scan).toFixed(1)))),
      },
      { id: 'message', header: t.sources.message, value: (scan) => scan.message || '–' },
    ]
  }, [t, formats])
}

function tookSeconds(scan: Scan): number {
  return scan.finished_at === null ? 0 : (Date.parse(scan.finished_at) - Date.parse(scan.started_at)) / 1000
}
