import type { ListedSliceJob, SliceStatus } from '@gateway/contracts/slice.js'
import { Group, Progress, Text } from '@mantine/core'
import { useTexts } from '../../texts/texts.js'
import { shortText } from '../../ui/shown-text.js'
import { Status, type Tone } from '../../ui/status.js'
import { useNow } from '../../ui/time.js'
import { useFormats } from '../../ui/use-formats.js'
import { secondsLeft } from './remaining.js'

const TONES: Record<SliceStatus, Tone> = { pending: 'waiting', running: 'busy', succeeded: 'good', failed: 'bad' }

export function JobStatus({ job }: { job: ListedSliceJob }) {
  const t = useTexts()
  if (job.cancelled) return <Status tone="off">{t.slicing.statuses.cancelled}</Status>
  return <Status tone={TONES[job.status]}>{t.slicing.statuses[job.status]}</Status>
}

/** Returns the display name of a job. */
export function jobName(job: ListedSliceJob): string {
  return job.name || job.target_code
}

/** The remaining time of a running job, if it can be estimated. */
export function TimeLeft({ job }: { job: ListedSliceJob }) {
  const t = useTexts().slicing
  const formats = useFormats()
  const seconds = secondsLeft(job, useNow())
  return seconds === null ? null : (
    <Text size="sm" c="dimmed">
      {t.left(formats.duration(seconds))}
    </Text>
  )
}

export function JobProgress({ job }: { job: ListedSliceJob }) {
  const t = useTexts()
  const formats = useFormats()
  return (
    <Group gap="xs" wrap="nowrap">
      <Progress
        value={job.progress}
        flex={1}
        miw={80}
        aria-label={t.slicing.progressOf(shortText(jobName(job)))}
        {...(job.status === 'failed' && { color: job.cancelled ? 'gray' : 'red' })}
      />
      <Text size="sm" className="numeric" miw={44} ta="end">
        {formats.percent(Math.floor(job.progress) / 100)}
      </Text>
    </Group>
  )
}
