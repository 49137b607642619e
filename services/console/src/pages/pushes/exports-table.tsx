import type { Export } from '@gateway/contracts/export.js'
import { Anchor, Group, Progress, Stack, Text } from '@mantine/core'
import IconFileExport from '~icons/file-export'
import { EXPORTS, exportFile, useRemoveExport } from '../../api/exports.js'
import { useTexts } from '../../texts/texts.js'
import { actionsColumn, agoColumn, type Column } from '../../ui/columns.js'
import { ButtonLink } from '../../ui/links.js'
import { Name, NameLink } from '../../ui/name.js'
import { notifyDone } from '../../ui/notify.js'
import { type FiltersOf, ServerTable } from '../../ui/server-table.js'
import { ServerText } from '../../ui/server-text.js'
import { shortText } from '../../ui/shown-text.js'
import { Status, type Tone } from '../../ui/status.js'
import { useFormats } from '../../ui/use-formats.js'
import { ActionButton } from '../../ui/write-button.js'
import { useVersionPartColumns, versionName } from '../basemaps/version-part.js'

const TONES: Record<Export['status'], Tone> = { pending: 'waiting', running: 'busy', succeeded: 'good', failed: 'bad' }
const STATUSES = ['pending', 'running', 'succeeded', 'failed'] as const

export function ExportsTable() {
  const t = useTexts()
  const filters: FiltersOf<typeof EXPORTS> = [
    { name: 'status', label: t.common.status, options: STATUSES.map((one) => [one, t.slicing.statuses[one]]) },
  ]
  return (
    <ServerTable
      source={EXPORTS}
      filters={filters}
      what={t.exports.what}
      empty={{
        title: t.exports.empty,
        icon: IconFileExport,
        action: <ButtonLink to="/versions">{t.exports.versions}</ButtonLink>,
        advice: t.exports.emptyAdvice,
      }}
      label={t.exports.title}
      columns={useColumns()}
      rowKey={({ id }) => id}
      search={t.exports.search}
    />
  )
}

function useColumns(): readonly Column<Export>[] {
  const t = useTexts()
  const formats = useFormats()
  const part = useVersionPartColumns<Export>(({ zoom_min, zoom_max }) => `${zoom_min}–${zoom_max}`)
  return [
    ...part,
    {
      id: 'status',
      header: t.common.status,
      sort: 'status',
      value: ({ status }) => status,
      cell: (one) => <ExportStatus of={one} />,
    },
    {
      id: 'bytes',
      header: t.common.size,
      sort: 'bytes',
      numeric: true,
      value: ({ bytes }) => bytes ?? 0,
      cell: ({ bytes }) => (bytes === null ? '–' : formats.bytes(bytes)),
    },
    {
      id: 'target',
      header: t.pushes.target,
      value: ({ target_code }) => target_code ?? '',
      cell: ({ target_code, push_id }) => {
        if (target_code === null) return '–'
        if (push_id === null) return <Name>{target_code}</Name>
        return <NameLink to={`/pushes/basemap/${push_id}`} name={target_code} />
      },
    },
    agoColumn('created', t.common.created, ({ created_at: at }) => at, { sort: 'created_at' }),
    agoColumn('expires', t.exports.kept, ({ expires_at: at }) => at, { fallback: '–' }),
    actionsColumn(t, (one) => <Actions of={one} />),
  ]
}

function ExportStatus({ of: { status, message, progress, ...one } }: { of: Export }) {
  const t = useTexts()
  const name = shortText(`${one.basemap_code} · ${one.version}`)
  return (
    <Stack gap={4}>
      <Status tone={TONES[status]}>{t.slicing.statuses[status]}</Status>
      {status === 'running' && <Progress value={progress} miw={80} aria-label={t.exports.progressOf(name)} />}
      {message !== '' && (
        <Text size="sm" lineClamp={1}>
          <ServerText text={message} code={one.message_code} params={one.message_params} />
        </Text>
      )}
    </Stack>
  )
}

function Actions({ of }: { of: Export }) {
  const t = useTexts()
  const remove = useRemoveExport(of.id)
  const name = shortText(versionName(of))
  return (
    <Group gap="xs" wrap="nowrap">
      {of.status === 'succeeded' && (
        <Anchor href={exportFile(of.id)} download aria-label={t.exports.downloadOf(name)}>
          {t.exports.download}
        </Anchor>
      )}
      <ActionButton
        needs="operator"
        variant="subtle"
        size="compact-sm"
        aria-label={t.exports.removeOf(name)}
        write={remove}
        onDone={() => notifyDone(t.exports.removed)}
        failed={t.exports.removeFailed}
      >
        {t.exports.remove}
      </ActionButton>
    </Group>
  )
}
