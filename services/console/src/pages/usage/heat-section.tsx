import type { AdminBasemap, AdminBasemapVersion } from '@gateway/contracts/basemap.js'
import type { UsageCellKind } from '@gateway/contracts/usage.js'
import { Button, Group, SegmentedControl, Stack, Table, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { MapMouseEvent } from 'maplibre-gl'
import { useMemo, useRef, useState } from 'react'
import { HEAT_RANGES, type HeatRange, usageCellsQuery } from '../../api/usage-cells.js'
import { VersionMap } from '../../map/lazy.js'
import type { MapLibre } from '../../map/library.js'
import { addressText } from '../../map/tile-address.js'
import { useTexts } from '../../texts/texts.js'
import { Loaded } from '../../ui/loaded.js'
import { Section } from '../../ui/section.js'
import { useFormats } from '../../ui/use-formats.js'
import { useParameters } from '../../ui/use-parameter.js'
import { useSeen } from '../../ui/use-seen.js'
import { isServed } from '../../ui/withdrawn.js'
import { amountOf, boundsOfCell, CELLS, HEAT_COLOURS, type HeatCell, heatOverlay } from './heat.js'

const KINDS: readonly UsageCellKind[] = ['requests', 'misses']
const RANGES = Object.keys(HEAT_RANGES) as HeatRange[]
/** Number of rows in the table next to the map. */
const LARGEST = 8

/** A heat map of the tiles of a basemap that were requested or missing. */
export function HeatSection({ basemap }: { basemap: AdminBasemap }) {
  const t = useTexts().usage.heat
  const [parameters, set] = useParameters()
  const kind = KINDS.find((one) => one === parameters.get('heat')) ?? 'requests'
  const range = RANGES.find((one) => one === parameters.get('days')) ?? 'week'
  const { ref, seen } = useSeen()
  const { versions, default_version: current } = basemap
  const version = versions.find((one) => one.version === current) ?? versions.at(-1)
  if (version === undefined) return null
  return (
    <Section
      title={t.title}
      note={t.lead}
      actions={
        <>
          <SegmentedControl
            aria-label={t.kind}
            size="xs"
            data={KINDS.map((value) => ({ value, label: t.kinds[value] }))}
            value={kind}
            onChange={(heat) => set({ heat })}
          />
          <SegmentedControl
            aria-label={t.range}
            size="xs"
            data={RANGES.map((value) => ({ value, label: t.ranges[value] }))}
            value={range}
            onChange={(days) => set({ days })}
          />
        </>
      }
    >
      <div ref={ref}>
        {seen ? <Heat basemap={basemap} version={version} kind={kind} range={range} /> : <div className="map" />}
      </div>
    </Section>
  )
}

interface HeatProps {
  readonly basemap: AdminBasemap
  readonly version: AdminBasemapVersion
  readonly kind: UsageCellKind
  readonly range: HeatRange
}

function Heat({ basemap, version, kind, range }: HeatProps) {
  const t = useTexts().usage
  const query = useQuery({ ...usageCellsQuery(basemap.code, kind, range), placeholderData: keepPreviousData })
  return (
    <Loaded query={query} what={t.what}>
      {({ cells: { features, total, requests }, shown }) =>
        features.length === 0 ? (
          <Text c="dimmed">{shown === 'misses' ? t.heat.noMisses : t.none}</Text>
        ) : (
          <>
            <Text size="sm" mb="xs">
              {t.heat.summary(requests, total)} {features.length < total && t.heat.largestOnly(features.length)}
            </Text>
            {isServed(basemap) && isServed(version) ? (
              <HeatMap code={basemap.code} version={version} cells={features} kind={shown} />
            ) : (
              <LargestCells cells={features} kind={shown} />
            )}
          </>
        )
      }
    </Loaded>
  )
}

interface HeatMapProps {
  readonly code: string
  readonly version: AdminBasemapVersion
  readonly cells: readonly HeatCell[]
  readonly kind: UsageCellKind
}

function HeatMap({ code, version, cells, kind }: HeatMapProps) {
  const t = useTexts().usage.heat
  const map = useRef<MapLibre | null>(null)
  const [chosen, setChosen] = useState<HeatCell | null>(null)
  const overlay = useMemo(() => heatOverlay(cells, kind), [cells, kind])
  const onClick = ({ point, target }: MapMouseEvent) => {
    const found = target.queryRenderedFeatures(point, { layers: [CELLS] })[0]?.properties
    setChosen(cells.find(({ properties: { z, x, y } }) => found?.z === z && found.x === x && found.y === y) ?? null)
  }
  const show = (cell: HeatCell) => {
    setChosen(cell)
    map.current?.fitBounds(boundsOfCell(cell), { padding: 120, maxZoom: version.max_zoom })
  }
  return (
    <div className="map-and-side">
      <Stack gap="xs">
        <VersionMap
          code={code}
          version={version}
          grid={false}
          overlay={overlay}
          onClick={onClick}
          onReady={(made) => {
            map.current = made
          }}
        />
        <Legend kind={kind} />
        <Text size="sm" aria-live="polite">
          {chosen === null
            ? t.click
            : t.chosen(addressText(chosen.properties), chosen.properties.requests, chosen.properties.tile_404)}
        </Text>
      </Stack>
      <LargestCells cells={cells} kind={kind} onShow={show} />
    </div>
  )
}

function Legend({ kind }: { kind: UsageCellKind }) {
  const t = useTexts().usage.heat
  return (
    <Group gap="xs">
      <Text size="xs">{t.few}</Text>
      <span
        className="heat-scale"
        aria-hidden
        style={{ background: `linear-gradient(90deg, ${HEAT_COLOURS[kind].join(', ')})` }}
      />
      <Text size="xs">{t.many}</Text>
    </Group>
  )
}

interface LargestProps {
  readonly cells: readonly HeatCell[]
  readonly kind: UsageCellKind
  readonly onShow?: (cell: HeatCell) => void
}

/** The content of the map as a table, for users who cannot see its colours. The service returns the largest cells first. */
function LargestCells({ cells, kind, onShow }: LargestProps) {
  const t = useTexts().usage
  const formats = useFormats()
  return (
    <Table fz="sm" verticalSpacing={4} captionSide="top" style={{ alignSelf: 'start' }}>
      <Table.Caption>{t.heat.largest}</Table.Caption>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{t.heat.cell}</Table.Th>
          <Table.Th scope="col" ta="end">
            {kind === 'misses' ? t.missing : t.requests}
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {cells.slice(0, LARGEST).map((cell) => {
          const address = addressText(cell.properties)
          return (
            <Table.Tr key={`${cell.properties.tile_matrix_set} ${address}`}>
              <Table.Td>
                {onShow === undefined ? (
                  address
                ) : (
                  <Button
                    variant="subtle"
                    size="compact-sm"
                    onClick={() => onShow(cell)}
                    aria-label={t.heat.show(address)}
                  >
                    {address}
                  </Button>
                )}
              </Table.Td>
              <Table.Td ta="end">{formats.number(amountOf(cell, kind))}</Table.Td>
            </Table.Tr>
          )
        })}
      </Table.Tbody>
    </Table>
  )
}
