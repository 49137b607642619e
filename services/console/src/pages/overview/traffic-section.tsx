import type { TrafficHistory } from '@gateway/contracts/traffic.js'
import { Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { useTexts } from '../../texts/texts.js'
import { Loaded } from '../../ui/loaded.js'
import { Section } from '../../ui/section.js'
import { useFormats } from '../../ui/use-formats.js'
import { useSeen } from '../../ui/use-seen.js'

/** The chart library is a quarter of the page's weight: it is loaded once there is something to draw, and somebody scrolls to it. */
const TrafficCharts = lazy(() => import('./traffic-charts.js'))

export function TrafficSection({ query }: { query: UseQueryResult<TrafficHistory> }) {
  const t = useTexts().overview
  const formats = useFormats()
  const { ref, seen } = useSeen()
  return (
    <Section
      title={t.traffic}
      actions={
        query.data && (
          <Text size="xs" c="dimmed">
            {t.trafficSince(formats.clock(query.data.since))}
          </Text>
        )
      }
    >
      <div ref={ref}>
        <Loaded query={query} what={t.traffic}>
          {({ points }) =>
            points.length === 0 ? (
              <Text c="dimmed">{t.noTraffic}</Text>
            ) : (
              <Suspense fallback={<div className="plot" />}>
                {seen ? <TrafficCharts points={points} /> : <div className="plot" />}
              </Suspense>
            )
          }
        </Loaded>
      </div>
    </Section>
  )
}
