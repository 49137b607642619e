import type { UsageKind } from '@gateway/contracts/usage.js'
import { Button, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import IconDownload from '~icons/download'
import { sumOf, type UsageSpan, usageFile, usageQuery } from '../../api/usage.js'
import { useTexts } from '../../texts/texts.js'
import { Loaded } from '../../ui/loaded.js'
import { part } from '../../ui/part.js'
import { PlotSkeleton } from '../../ui/plot-skeleton.js'
import { Section } from '../../ui/section.js'
import { useSeen } from '../../ui/use-seen.js'
import { SpanField, useSpan } from './span-field.js'

/** The chart library is large, so it loads only when a chart becomes visible. */
const UsageCharts = part(async () => (await import('./usage-charts.js')).default, {
  Pending: () => <PlotSkeleton what={({ usage }) => usage.what} />,
})

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
          <SpanField span={span} choose={choose} zoom={zoom} />
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
