import type { UsageKind } from '@gateway/contracts/usage.js'
import { Button, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import IconDownload from '~icons/download'
import {
  rangeBetween,
  rangeUntil,
  sumOf,
  USAGE_RANGES,
  type UsageRange,
  type UsageSpan,
  usageFile,
  usageQuery,
} from '../../api/usage.js'
import { useTexts } from '../../texts/texts.js'
import { Loaded } from '../../ui/loaded.js'
import { part } from '../../ui/part.js'
import { PlotSkeleton } from '../../ui/plot-skeleton.js'
import { Section } from '../../ui/section.js'
import { useNow } from '../../ui/time.js'
import { useParameters } from '../../ui/use-parameter.js'
import { useSeen } from '../../ui/use-seen.js'
import { RangeField } from './range-field.js'

/** The chart library is large, so it loads only when a chart becomes visible. */
const UsageCharts = part(async () => (await import('./usage-charts.js')).default, {
  Pending: () => <PlotSkeleton what={({ usage }) => usage.what} />,
})

const RANGES = Object.keys(USAGE_RANGES) as UsageRange[]

/** The usage of one token, basemap, version or vector. `id` is in the format of the API. */
export function UsageSection({ by, id }: { by: UsageKind; id: string }) {
  const t = useTexts().usage
  const { span, choose, zoom } = useSpan()
  const { ref, seen } = useSeen()
  return (
    <Section
      title={t.title}
      note={t.notAccounted}
      actions={
        <>
          <RangeField
            ranges={RANGES}
            value={span.range}
            onChange={choose}
            own={{ fromMs: span.fromMs, toMs: span.toMs, onChange: zoom }}
          />
          <Button
            component="a"
            href={usageFile(by, id, span)}
            download
            variant="default"
            size="compact-sm"
            leftSection={<IconDownload size={16} />}
          >
            {t.file}
          </Button>
        </>
      }
    >
      <div ref={ref}>{seen ? <Charts {...{ by, id, span }} onZoom={zoom} /> : <div className="plot" />}</div>
    </Section>
  )
}

/** The range in the URL: a name in `usage`, or a custom range in `from` and `to`. */
function useSpan() {
  const [parameters, set] = useParameters()
  const now = useNow()
  const [from, to] = ['from', 'to'].map((name) => Date.parse(parameters.get(name) ?? '')) as [number, number]
  const range = RANGES.find((one) => one === parameters.get('usage')) ?? 'month'
  const span = from < to ? rangeBetween(from, to) : rangeUntil(range, now)
  return {
    span,
    choose: (usage: UsageRange) => set({ usage, from: null, to: null }),
    zoom: (fromMs: number, toMs: number) =>
      set({ from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() }),
  }
}

interface ChartsProps {
  readonly by: UsageKind
  readonly id: string
  readonly span: UsageSpan
  readonly onZoom: (fromMs: number, toMs: number) => void
}

function Charts({ by, id, span, onZoom }: ChartsProps) {
  const t = useTexts().usage
  const query = useQuery({ ...usageQuery(by, id, span), placeholderData: keepPreviousData })
  return (
    <Loaded query={query} what={t.what}>
      {({ points, shown }) =>
        sumOf(points).requests === 0 ? (
          <Text c="dimmed">{t.none}</Text>
        ) : (
          <UsageCharts points={points} span={shown} onZoom={onZoom} />
        )
      }
    </Loaded>
  )
}
