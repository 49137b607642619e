import type { Bounds } from '@gateway/contracts/basemap.js'
import type { AdminVector } from '@gateway/contracts/vector.js'
import { Button, Checkbox, Group, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { Feature } from 'geojson'
import { useMemo, useState } from 'react'
import IconChevronLeft from '~icons/chevron-left'
import IconChevronRight from '~icons/chevron-right'
import IconMapPin from '~icons/map-pin'
import {
  type Attribute,
  attributesQuery,
  FEATURES_PAGE,
  type FeaturesPage,
  featuresQuery,
  MAX_COLUMNS,
  type Selected,
} from '../../api/features.js'
import { useTexts } from '../../texts/texts.js'
import type { Column } from '../../ui/columns.js'
import { Empty } from '../../ui/empty.js'
import { Loaded } from '../../ui/loaded.js'
import { Name } from '../../ui/name.js'
import { Section } from '../../ui/section.js'
import { TableFrame } from '../../ui/table-frame.js'
import { nextSorting, parseSorting, sortingText } from '../../ui/table-rows.js'
import { useFormats } from '../../ui/use-formats.js'
import { useParameters } from '../../ui/use-parameter.js'
import { attributeText } from './features.js'
import { FeaturesFilter } from './features-filter.js'
import { useVectorToken } from './use-vector-map.js'

interface FeaturesTableProps {
  readonly vector: AdminVector
  /** the visible part of the map; null: the map has not loaded yet */
  readonly view: Bounds | null
  /** shows a feature on the map */
  readonly onShow: (feature: Feature) => void
}

/** The features of a vector as a table, which the service filters, sorts and pages. */
export function FeaturesTable(props: FeaturesTableProps) {
  const t = useTexts()
  const { vector } = props
  const token = useVectorToken(vector).data?.token
  return (
    <Section title={t.vectors.table} quiet>
      <Loaded query={useQuery(attributesQuery(vector, token))} what={t.vectors.features}>
        {(attributes) => <Filtered {...props} token={token} attributes={attributes} />}
      </Loaded>
    </Section>
  )
}

interface PagesProps extends FeaturesTableProps {
  readonly token: string | undefined
  readonly attributes: readonly Attribute[]
}

function Filtered(props: PagesProps) {
  const { attributes, vector } = props
  const t = useTexts()
  const [parameters, set] = useParameters()
  const filter = parameters.get('q') ?? ''
  const sort = parameters.get('sort')
  const [inView, setInView] = useState(false)
  const bbox = inView ? props.view : null
  return (
    <Stack gap="sm">
      {attributes.length > 0 && (
        <FeaturesFilter attributes={attributes} filter={filter} onFilter={(q) => set({ q: q || null })} />
      )}
      {attributes.length > MAX_COLUMNS && (
        <Text size="sm" c="dimmed">
          {t.vectors.tableNote(MAX_COLUMNS, attributes.length)}
        </Text>
      )}
      {props.view !== null && (
        <Checkbox
          label={t.vectors.inView}
          checked={inView}
          onChange={(event) => setInView(event.currentTarget.checked)}
        />
      )}
      {/* Another selection, or another content, begins at its first page. */}
      <Paged key={`${vector.revision} ${sort} ${bbox} ${filter}`} {...props} selected={{ filter, sort, bbox }} />
    </Stack>
  )
}

function Paged({ vector, token, attributes, onShow, selected }: PagesProps & { readonly selected: Selected }) {
  const t = useTexts()
  // The cursors of the pages up to this one; the first page has none.
  const [cursors, setCursors] = useState<readonly string[]>([])
  const cursor = cursors.at(-1) ?? null
  const wanted = { ...selected, attributes, cursor, limit: FEATURES_PAGE }
  const query = useQuery({ ...featuresQuery(vector, token, wanted), placeholderData: keepPreviousData })
  const columns = useColumns(attributes, onShow)
  const [, set] = useParameters()
  const sorting = parseSorting(selected.sort)
  return (
    <Loaded query={query} what={t.vectors.features}>
      {(page) =>
        page.features.length === 0 ? (
          <Empty title={t.vectors.noFeatures}>
            {selected.filter === '' && selected.bbox === null ? t.vectors.emptyVector : t.vectors.noFeaturesAdvice}
          </Empty>
        ) : (
          <>
            <div className="features-table">
              <TableFrame
                label={t.vectors.table}
                columns={columns}
                rows={page.features}
                rowKey={keyOf}
                sortingOf={({ sort: by }) => (by === undefined ? undefined : sorting?.id === by ? sorting : null)}
                onSort={(column) => {
                  const asked = { id: column.sort as string, numeric: column.numeric ?? false }
                  set({ sort: sortingText(nextSorting(sorting, asked)) })
                }}
                busy={query.isPlaceholderData}
                wide
              />
            </div>
            <Steps
              page={page}
              from={cursors.length * FEATURES_PAGE + 1}
              onPrevious={cursors.length === 0 ? null : () => setCursors(cursors.slice(0, -1))}
              onNext={page.next === null ? null : () => setCursors([...cursors, page.next as string])}
              busy={query.isPlaceholderData}
            />
          </>
        )
      }
    </Loaded>
  )
}

interface StepsProps {
  readonly page: FeaturesPage
  /** counted from 1 */
  readonly from: number
  /** null: this is the first page */
  readonly onPrevious: (() => void) | null
  readonly onNext: (() => void) | null
  readonly busy: boolean
}

function Steps({ page: { features, matched }, from, onPrevious, onNext, busy }: StepsProps) {
  const t = useTexts().vectors
  const formats = useFormats()
  const [first, last] = [from, from + features.length - 1].map(formats.number) as [string, string]
  return (
    <Group justify="space-between">
      <Text size="sm" c="dimmed" role="status">
        {matched === null ? t.shownOnly(first, last) : t.shownOf(first, last, formats.number(matched))}
      </Text>
      <Group gap="xs">
        <Button
          variant="default"
          size="xs"
          disabled={onPrevious === null || busy}
          onClick={() => onPrevious?.()}
          leftSection={<IconChevronLeft size={16} />}
        >
          {t.previous}
        </Button>
        <Button
          variant="default"
          size="xs"
          disabled={onNext === null || busy}
          onClick={() => onNext?.()}
          rightSection={<IconChevronRight size={16} />}
        >
          {t.next}
        </Button>
      </Group>
    </Group>
  )
}

function keyOf({ id }: Feature): string {
  return String(id)
}

function useColumns(attributes: readonly Attribute[], onShow: (feature: Feature) => void): readonly Column<Feature>[] {
  const t = useTexts().vectors
  return useMemo(() => {
    const id: Column<Feature> = {
      id: 'feature',
      header: t.id,
      value: keyOf,
      cell: (feature) => (
        <Button
          variant="subtle"
          size="compact-sm"
          disabled={feature.geometry === null}
          leftSection={<IconMapPin size={14} />}
          aria-label={t.showFeature(keyOf(feature))}
          onClick={() => onShow(feature)}
        >
          {keyOf(feature)}
        </Button>
      ),
    }
    const shown = attributes.slice(0, MAX_COLUMNS).map(
      ({ name, type }): Column<Feature> => ({
        id: `attribute ${name}`,
        header: name,
        numeric: type === 'number',
        ...(type !== 'other' && !name.includes(',') && { sort: name }),
        value: ({ properties }) => attributeText(properties?.[name]),
        cell: ({ properties }) => {
          const text = attributeText(properties?.[name]) || '–'
          return type === 'number' ? text : <Name>{text}</Name>
        },
      }),
    )
    return [id, ...shown]
  }, [attributes, onShow, t])
}
