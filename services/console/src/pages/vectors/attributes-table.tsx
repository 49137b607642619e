import { Text } from '@mantine/core'
import type { Feature } from 'geojson'
import { useMemo } from 'react'
import { useTexts } from '../../texts/texts.js'
import type { Column } from '../../ui/columns.js'
import { DataTable } from '../../ui/data-table.js'
import { Name } from '../../ui/name.js'
import { attributeNames, attributeText } from './features.js'

/** Maximum number of rows. Larger files are better searched with a dedicated tool. */
const MAX_ROWS = 5000

interface Row {
  readonly key: string
  readonly properties: Readonly<Record<string, unknown>>
}

export function AttributesTable({ features }: { features: readonly Feature[] }) {
  const t = useTexts()
  const shown = useMemo(() => features.slice(0, MAX_ROWS), [features])
  const rows = useMemo(
    () => shown.map(({ properties }, i): Row => ({ key: String(i), properties: properties ?? {} })),
    [shown],
  )
  const columns = useMemo(
    () =>
      attributeNames(shown).map(
        (name): Column<Row> => ({
          id: `attribute ${name}`,
          header: name,
          cell: ({ properties }) => <Name>{attributeText(properties[name]) || '–'}</Name>,
          value: ({ properties }) =>
            typeof properties[name] === 'number' ? (properties[name] as number) : attributeText(properties[name]),
        }),
      ),
    [shown],
  )
  if (columns.length === 0) return <Text c="dimmed">{t.vectors.noAttributes}</Text>
  return (
    <>
      <Text size="sm" c="dimmed">
        {t.vectors.attributesNote(rows.length, features.length)}
      </Text>
      <DataTable
        label={t.vectors.attributes}
        rows={rows}
        columns={columns}
        rowKey={({ key }) => key}
        search={t.vectors.searchAttributes}
        wide
      />
    </>
  )
}
