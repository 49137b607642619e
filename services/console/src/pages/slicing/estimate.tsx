import { Loader, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { estimateQuery, type SliceBody } from '../../api/slicing.js'
import { useTexts } from '../../texts/texts.js'
import { Fact, Facts } from '../../ui/facts.js'
import { Problem } from '../../ui/problem.js'
import { Section } from '../../ui/section.js'
import { useFormats } from '../../ui/use-formats.js'
import { Warnings } from '../../ui/warnings.js'
import { BoundsText } from '../basemaps/bounds-text.js'

/** The estimated result of a job, before it is submitted. */
export function Estimate({ body }: { body: SliceBody }) {
  const t = useTexts()
  const formats = useFormats()
  const { data, error } = useQuery(estimateQuery(body))
  return (
    <Section title={t.slicing.estimate}>
      <div aria-live="polite">
        {error !== null && <Problem title={t.slicing.estimateFailed} error={error} />}
        {error === null && data === undefined && (
          <Text c="dimmed">
            <Loader size="xs" aria-hidden /> {t.slicing.estimating}
          </Text>
        )}
        <Warnings warnings={data?.warnings} />
        {data !== undefined && (
          <Facts>
            <Fact name={t.slicing.estimateTiles}>{formats.number(data.tiles)}</Fact>
            <Fact name={t.slicing.estimateBytes}>{formats.bytes(data.bytes_estimate)}</Fact>
            <Fact name={t.slicing.estimateTemp}>{formats.bytes(data.temp_bytes_estimate)}</Fact>
            <Fact name={t.slicing.estimateFree}>{formats.bytes(data.free_bytes)}</Fact>
            <Fact name={t.slicing.estimateZooms}>{`${data.min_zoom}–${data.max_zoom}`}</Fact>
            <Fact name={t.common.bounds}>
              <BoundsText bounds={data.bounds} />
            </Fact>
          </Facts>
        )}
      </div>
    </Section>
  )
}
