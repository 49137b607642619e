import type { SliceJob } from '@gateway/contracts/slice.js'
import { Alert, Code, List, Stack } from '@mantine/core'
import { IconMap2 } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useParams } from 'react-router'
import { ApiError, segment } from '../../api/client.js'
import { sliceJobQuery } from '../../api/slicing.js'
import { useTexts } from '../../texts/texts.js'
import { Facts } from '../../ui/facts.js'
import { ButtonLink } from '../../ui/links.js'
import { Loaded } from '../../ui/loaded.js'
import { Missing } from '../../ui/missing.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { Moment } from '../../ui/time.js'
import { CancelButton } from './cancel-button.js'
import { JobLog } from './job-log.js'
import { JobProgress, JobStatus, jobName } from './job-status.js'

export function Page() {
  const t = useTexts()
  const { id = '' } = useParams()
  const query = useQuery(sliceJobQuery(id))
  if (query.error instanceof ApiError && query.error.status === 404) {
    return (
      <Missing title={t.slicing.noSuch} back={{ label: t.slicing.title, to: '/slicing' }}>
        {t.problem.notFound}
      </Missing>
    )
  }
  return (
    <Loaded query={query} what={t.slicing.what}>
      {(job) => <Shown job={job} />}
    </Loaded>
  )
}

function Shown({ job }: { job: SliceJob }) {
  const t = useTexts()
  return (
    <Frame
      title={t.slicing.job(jobName(job))}
      above={[{ label: t.slicing.title, to: '/slicing' }]}
      actions={
        <>
          <CancelButton job={job} />
          {job.status === 'succeeded' && (
            <ButtonLink to={`/basemaps/${segment(job.target_code)}`} leftSection={<IconMap2 size={16} aria-hidden />}>
              {t.slicing.showLayer}
            </ButtonLink>
          )}
        </>
      }
    >
      <Section title={t.slicing.progress} actions={<JobStatus job={job} />}>
        <Stack gap="sm">
          <JobProgress job={job} />
          {job.message !== '' && <Alert color={job.status === 'failed' ? 'red' : 'blue'}>{job.message}</Alert>}
        </Stack>
      </Section>
      <JobLog job={job} />
      <Section title={t.basemaps.details}>
        <JobFacts job={job} />
        <List size="sm" type="ordered">
          {job.source_paths.map((path, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: an image may be named twice; the order is what they are
            <List.Item key={i}>
              <Code className="wrap">{path}</Code>
            </List.Item>
          ))}
        </List>
      </Section>
    </Frame>
  )
}

function JobFacts({ job }: { job: SliceJob }) {
  const t = useTexts()
  const callback =
    job.callback_url === ''
      ? t.common.none
      : `${job.callback_url} (${t.slicing.callbackState(job.callback_status || '–', job.callback_attempts ?? 0)})`
  return (
    <Facts
      facts={[
        [t.slicing.layer, job.target_code],
        [t.common.zooms, `${job.zoom_min}–${job.zoom_max}`],
        [t.basemaps.tileSize, job.tile_size],
        [t.common.format, job.tile_format],
        [t.slicing.submitted, <Moment key="submitted" at={job.created_at} />],
        [t.slicing.by, job.requested_by || '–'],
        [
          t.common.code,
          <span key="code" className="mono">
            {job.code || '–'}
          </span>,
        ],
        [
          t.slicing.output,
          <span key="output" className="mono">
            {job.output_root || '–'}
          </span>,
        ],
        [
          t.slicing.logFile,
          <span key="log" className="mono">
            {job.log_path || '–'}
          </span>,
        ],
        [t.slicing.callback, callback],
      ]}
    />
  )
}
