import type { BasemapVersion } from '@gateway/contracts/basemap.js'
import type { ComparedZoom, Comparison } from '@gateway/contracts/comparison.js'
import { Alert, ColorSwatch, Group, Loader, NativeSelect, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { comparisonQuery } from '../../api/catalog.js'
import { DIFFERENCE_COLOURS, DIFFERENCES, differencesLayer } from '../../map/differences-layer.js'
import { columnsOf } from '../../map/geographic.js'
import { VersionMap } from '../../map/lazy.js'
import { useTexts } from '../../texts/texts.js'
import { Problem } from '../../ui/problem.js'
import { shortText } from '../../ui/shown-text.js'

interface TileDifferencesProps {
  readonly code: string
  readonly left: BasemapVersion
  readonly right: BasemapVersion
}

/** The tiles that differ between two versions, drawn over the map of the right one, for one zoom at a time. */
export function TileDifferences(props: TileDifferencesProps) {
  const { code, left, right } = props
  const t = useTexts().compare
  const { data, error, refetch } = useQuery(comparisonQuery(code, left, right))
  if (error !== null) return <Problem title={t.failed} error={error} onRetry={() => void refetch()} />
  if (data === undefined) {
    return (
      <Group role="status">
        <Loader size="sm" /> {t.comparing}
      </Group>
    )
  }
  return <Found key={`${left.version}\n${right.version}`} {...props} comparison={data} />
}

function Found({ code, left, right, comparison }: TileDifferencesProps & { readonly comparison: Comparison }) {
  const t = useTexts().compare
  const { zooms, complete } = comparison
  const [chosen, choose] = useState<number | null>(null)
  const shown = zooms.find(({ zoom }) => zoom === chosen) ?? mostTelling(zooms)
  const overlay = useMemo(
    () => (shown === undefined ? undefined : differencesLayer(shown, { columns: columnsOf(right) })),
    [shown, right],
  )
  if (shown === undefined) return <Text>{t.nothingCompared}</Text>
  return (
    <Stack gap="xs">
      {left.format !== right.format && <Alert color="orange">{t.otherFormat(left.format, right.format)}</Alert>}
      {!complete && <Alert color="orange">{t.notComplete(shownZooms(zooms))}</Alert>}
      <Group align="end">
        <NativeSelect
          label={t.zoom}
          value={String(shown.zoom)}
          data={zooms.map((one) => ({ value: String(one.zoom), label: t.zoomOption(one.zoom, differing(one)) }))}
          onChange={(event) => choose(Number(event.currentTarget.value))}
        />
        {DIFFERENCES.map((kind) => (
          <Group key={kind} gap={6} wrap="nowrap">
            <ColorSwatch size={14} radius="xs" color={DIFFERENCE_COLOURS[kind]} withShadow={false} aria-hidden />
            <Text size="sm">
              {t.kinds[kind](shown[kind].length, shortText(left.version), shortText(right.version))}
            </Text>
          </Group>
        ))}
        <Text size="sm">{t.same(shown.same)}</Text>
      </Group>
      <Text size="sm" c="dimmed">
        {shown.step === 1 ? t.allCompared(shown.compared) : t.someCompared(shown.compared, shown.addresses)}
      </Text>
      <VersionMap code={code} version={right} grid={false} {...(overlay !== undefined && { overlay })} />
    </Stack>
  )
}

function differing(zoom: ComparedZoom): number {
  return DIFFERENCES.reduce((sum, kind) => sum + zoom[kind].length, 0)
}

/** Returns the deepest zoom that was compared completely and differs: it has the finest picture. */
function mostTelling(zooms: readonly ComparedZoom[]): ComparedZoom | undefined {
  const differ = zooms.filter((zoom) => differing(zoom) > 0)
  return differ.findLast(({ step }) => step === 1) ?? differ[0] ?? zooms.at(-1)
}

function shownZooms(zooms: readonly ComparedZoom[]): string {
  return `${zooms[0]?.zoom}–${zooms.at(-1)?.zoom}`
}
