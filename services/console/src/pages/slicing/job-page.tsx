import type { SliceJob } from '@gateway/contracts/slice.js'
import { Alert, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import IconLayoutGridAdd from '~icons/layout-grid-add'
import IconMap2 from '~icons/map-2'
import { segment } from '../../api/client.js'
import { sliceJobQuery, useAcknowledgeSlice } from '../../api/slicing.js'
import { useParams } from '../../router/hooks.js'
import { useTexts } from '../../texts/texts.js'
import { AcknowledgeButton } from '../../ui/acknowledge-button.js'
import { Fact, Facts } from '../../ui/facts.js'
import { ButtonLink } from '../../ui/links.js'
import { Loaded } from '../../ui/loaded.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { ServerText } from '../../ui/server-text.js'
import { Moment } from '../../ui/time.js'
import { Warnings } from '../../ui/warnings.js'
import { CancelJobButton } from './cancel-job-button.js'
import { ImagePaths } from './image-paths.js'
import { JobLog } from './job-log.js'
import { JobProgress, JobStatus, jobName, TimeLeft } from './job-status.js'

export function Page() {
  const t = useTexts()
  const { id = '' } = useParams()
  const missing = { title: t.slicing.noSuch, back: { label: t.slicing.title, to: '/slicing' } }
  return (
    <Loaded query={useQuery(sliceJobQuery(id))} what={t.slicing.what} missing={missing}>
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
          <CancelJobButton job={job} />
          <SeenButton job={job} />
          {job.status === 'failed' && (
            <ButtonLink
              to={`/slicing/new?again=${segment(job.id)}`}
              needs="operator"
              variant="default"
              icon={IconLayoutGridAdd}
            >
              {t.slicing.again}
            </ButtonLink>
          )}
          {job.status === 'succeeded' && (
            <ButtonLink to={`/basemaps/${segment(job.target_code)}`} icon={IconMap2}>
              {t.slicing.showLayer}
            </ButtonLink>
          )}
        </>
      }
    >
      <Section title={t.slicing.progress} actions={<JobStatus job={job} />}>
        <Stack gap="sm">
          <JobProgress job={job} />
          <TimeLeft job={job} />
          <Warnings warnings={job.warnings} />
          {job.message !== '' && (
            <Alert color={job.status === 'failed' && !job.cancelled ? 'red' : 'blue'}>
              <ServerText text={job.message} code={job.message_code} params={job.message_params} />
            </Alert>
          )}
        </Stack>
      </Section>
      <JobLog job={job} />
      <Section title={t.basemaps.details}>
        <JobFacts job={job} />
        <ImagePaths paths={job.source_paths} />
      </Section>
    </Frame>
  )
}

/** Marks a failed job as seen. Renders nothing if the job has not failed or was already seen. */
function SeenButton({ job }: { job: SliceJob }) {
  const seen = useAcknowledgeSlice(job.id)
  const isUnseen = job.status === 'failed' && !job.cancelled && job.acknowledged_at === null
  return isUnseen ? <AcknowledgeButton write={seen} /> : null
}

function JobFacts({ job }: { job: SliceJob }) {
  const t = useTexts()
  const callback =
    job.callback_url === ''
      ? t.common.none
      : `${job.callback_url} (${t.slicing.callbackState(job.callback_status || '–', job.callback_attempts ?? 0)})`
  const mono = (text: string) => <bdi className="mono">{text || '–'}</bdi>
  return (
    <Facts>
      <Fact name={t.slicing.layer}>{job.target_code}</Fact>
      <Fact name={t.common.zooms}>{`${job.zoom_min}–${job.zoom_max}`}</Fact>
      <Fact name={t.basemaps.tileSize}>{job.tile_size}</Fact>
      <Fact name={t.common.format}>{job.tile_format}</Fact>
      <Fact name={t.slicing.grid}>{t.slicing.grids[job.tile_matrix_set]}</Fact>
      <Fact name={t.slicing.encoding}>{t.slicing.encodings[job.encoding]}</Fact>
      {job.encoding === 'rgb' && <Fact name={t.slicing.resampling}>{t.slicing.resamplings[job.resampling]}</Fact>}
      <Fact name={t.slicing.submitted}>
        <Moment at={job.created_at} />
      </Fact>
      <Fact name={t.slicing.started}>{job.started_at === null ? '–' : <Moment at={job.started_at} />}</Fact>
      <Fact name={t.slicing.finished}>{job.finished_at === null ? '–' : <Moment at={job.finished_at} />}</Fact>
      <Fact name={t.slicing.by}>{job.requested_by || '–'}</Fact>
      <Fact name={t.common.code}>{mono(job.code)}</Fact>
      <Fact name={t.slicing.output}>{mono(job.output_root)}</Fact>
      <Fact name={t.slicing.logFile}>{mono(job.log_path)}</Fact>
      <Fact name={t.slicing.callback}>{callback}</Fact>
    </Facts>
  )
}
