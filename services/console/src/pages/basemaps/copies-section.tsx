import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import { NativeSelect, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { EXPORTS, useExport } from '../../api/exports.js'
import { listQuery } from '../../api/list.js'
import { useTexts } from '../../texts/texts.js'
import type { Column } from '../../ui/columns.js'
import { DataTable } from '../../ui/data-table.js'
import { Loaded } from '../../ui/loaded.js'
import { Name } from '../../ui/name.js'
import { notifyDone } from '../../ui/notify.js'
import { Section } from '../../ui/section.js'
import { useFormats } from '../../ui/use-formats.js'
import { ActionButton } from '../../ui/write-button.js'
import { archivesIn, type Way, wayBetween } from './way-between.js'

/** Limit: exports that are looked at; the newest. */
const MOST_EXPORTS = 200

interface Row {
  /** null: a device without a copy */
  readonly from: string | null
  readonly way: Way | null
  readonly hasOwn: boolean
}

/** How many bytes a device that has one version needs for another. */
export function CopiesSection({ basemap }: { basemap: AdminBasemap }) {
  const { copies: t } = useTexts()
  const { code, versions, default_version: current } = basemap
  const labels = versions.filter(({ withdrawn }) => !withdrawn).map(({ version }) => version)
  const [chosen, setChosen] = useState(current ?? labels.at(-1) ?? '')
  const query = useQuery(listQuery(EXPORTS, { basemap_code: code, status: 'succeeded', limit: MOST_EXPORTS }))
  const columns = useColumns(code, chosen)
  return (
    <Section title={t.title}>
      <Text c="dimmed">{t.words}</Text>
      <NativeSelect
        label={t.wanted}
        value={chosen}
        data={labels}
        maw={320}
        onChange={(event) => setChosen(event.currentTarget.value)}
      />
      <Loaded query={query} what={t.what}>
        {({ items }) => {
          const archives = archivesIn(items)
          const rows = [null, ...labels.filter((label) => label !== chosen)].map((from) => ({
            from,
            way: wayBetween(archives, from, chosen),
            hasOwn: archives.some(({ version, from_version }) => version === chosen && from_version === from),
          }))
          return <DataTable label={t.title} rows={rows} columns={columns} rowKey={({ from }) => from ?? ''} />
        }}
      </Loaded>
    </Section>
  )
}

function useColumns(code: string, version: string): readonly Column<Row>[] {
  const { copies: t } = useTexts()
  const formats = useFormats()
  return [
    {
      id: 'from',
      header: t.from,
      value: ({ from }) => from ?? '',
      cell: ({ from }) => (from === null ? t.none : <Name>{from}</Name>),
    },
    {
      id: 'bytes',
      header: t.bytes,
      numeric: true,
      value: ({ way }) => way?.bytes ?? -1,
      cell: ({ way }) => (way === null ? '–' : formats.bytes(way.bytes)),
    },
    {
      id: 'archives',
      header: t.archives,
      numeric: true,
      value: ({ way }) => way?.archives ?? 0,
      cell: ({ way }) => (way === null ? '–' : formats.number(way.archives)),
    },
    {
      id: 'write',
      header: t.write,
      actions: true,
      value: () => '',
      cell: (row) => (row.hasOwn ? null : <WriteArchive code={code} version={version} from={row.from} />),
    },
  ]
}

/** Writes the archive that leads there at once. */
function WriteArchive({ code, version, from }: { code: string; version: string; from: string | null }) {
  const { copies: t } = useTexts()
  const { mutateAsync, isPending } = useExport()
  const body = { basemap_code: code, version, ...(from !== null && { from_version: from }) }
  return (
    <ActionButton
      needs="operator"
      variant="default"
      size="compact-sm"
      write={{ isPending, mutateAsync: () => mutateAsync(body) }}
      onDone={() => notifyDone(t.begun)}
      failed={t.failed}
    >
      {from === null ? t.writeWhole : t.writeDelta}
    </ActionButton>
  )
}
