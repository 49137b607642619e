import type { UsageKind } from '@gateway/contracts/usage.js'
import { Button, SegmentedControl, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { sumOf, USAGE_RANGES, type UsageRange, usageFile, usageQuery } from '../../api/usage.js'
import { useTexts } from '../../texts/texts.js'
import { Loaded } from '../../ui/loaded.js'
import { Section } from '../../ui/section.js'
import { useNow } from '../../ui/time.js'
import { useParameter } from '../../ui/use-parameter.js'
import { useSeen } from '../../ui/use-seen.js'

/** The chart library is heavy: it is loaded once somebody scrolls to something that it draws. */
const UsageCharts = lazy(() => import('./usage-charts.js'))

const RANGES = Object.keys(USAGE_RANGES) as UsageRange[]

/** What one token, basemap, version or vector was used for. `id`: as the API has it. */
export function UsageSection({ by, id }: { by: UsageKind; id: string }) {
  const t = useTexts().usage
  const [asked, setRange] = useParameter('usage')
  const range = RANGES.find((one) => one === asked) ?? 'month'
  const { ref, seen } = useSeen()
  return (
    <Section
      title={t.title}
      note={t.notAccounted}
      actions={
        <>
          <SegmentedControl
            aria-label={t.range}
            size="xs"
            data={RANGES.map((value) => ({ value, label: t.ranges[value] }))}
            value={range}
            onChange={setRange}
          />
          <Button
            component="a"
            href={usageFile(by, id, range, useNow())}
            download
            variant="default"
            size="compact-sm"
            leftSection={<IconDownload size={16} aria-hidden />}
          >
            {t.file}
          </Button>
        </>
      }
    >
      <div ref={ref}>{seen ? <Charts by={by} id={id} range={range} /> : <div className="plot" />}</div>
    </Section>
  )
}

function Charts({ by, id, range }: { by: UsageKind; id: string; range: UsageRange }) {
  const t = useTexts().usage
  const query = useQuery({ ...usageQuery(by, id, range), placeholderData: keepPreviousData })
  return (
    <Loaded query={query} what={t.what}>
      {({ points, shown }) =>
        sumOf(points).requests === 0 ? (
          <Text c="dimmed">{t.none}</Text>
        ) : (
          <Suspense fallback={<div className="plot" />}>
            <UsageCharts points={points} range={shown} />
          </Suspense>
        )
      }
    </Loaded>
  )
}
