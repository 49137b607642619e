import { Group, Progress, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { pendingJobsQuery, runningJobQuery } from '../../api/slicing.js'
import { useTexts } from '../../texts/texts.js'
import { NameLink } from '../../ui/name.js'
import { Section } from '../../ui/section.js'
import { useFormats } from '../../ui/use-formats.js'
import { TimeLeft } from '../slicing/job-status.js'

export function RunningJob() {
  const t = useTexts()
  const formats = useFormats()
  const running = useQuery(runningJobQuery).data?.items[0]
  const waiting = useQuery(pendingJobsQuery).data?.total ?? 0
  return (
    <Section title={t.overview.job}>
      {running === undefined ? (
        <Text c="dimmed">{t.overview.noJob}</Text>
      ) : (
        <Stack gap="xs">
          <Group justify="space-between">
            <NameLink to={`/slicing/jobs/${running.id}`} name={running.name || running.target_code} />
            <Text size="sm">{formats.percent(running.progress / 100)}</Text>
          </Group>
          <TimeLeft job={running} />
          <Progress value={running.progress} aria-label={t.slicing.progressOf(running.name || running.target_code)} />
        </Stack>
      )}
      {waiting > 0 && (
        <Text size="sm" c="dimmed">
          {t.overview.queued(waiting)}
        </Text>
      )}
    </Section>
  )
}
