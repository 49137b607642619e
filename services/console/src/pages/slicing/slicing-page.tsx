import type { SliceJob } from '@gateway/contracts/slice.js'
import { IconLayoutGrid, IconLayoutGridAdd } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { segment } from '../../api/client.js'
import { sliceJobsQuery } from '../../api/slicing.js'
import { useTexts } from '../../texts/texts.js'
import type { Column } from '../../ui/column.js'
import { actionsColumn } from '../../ui/columns.js'
import { ButtonLink, TextLink } from '../../ui/links.js'
import { ListTable } from '../../ui/list-table.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { Ago } from '../../ui/time.js'
import { CancelButton } from './cancel-button.js'
import { JobProgress, JobStatus, jobName } from './job-status.js'
import { Layers } from './layers.js'

export function Page() {
  const t = useTexts()
  const query = useQuery(sliceJobsQuery)
  const columns = useColumns()
  const submit = (
    <ButtonLink to="/slicing/new" leftSection={<IconLayoutGridAdd size={17} aria-hidden />}>
      {t.slicing.submit}
    </ButtonLink>
  )
  return (
    <Frame title={t.slicing.title} lead={t.slicing.lead} actions={submit}>
      <Section title={t.slicing.jobs}>
        <ListTable
          query={query}
          what={t.slicing.what}
          empty={{
            title: t.slicing.empty,
            icon: <IconLayoutGrid size={30} aria-hidden />,
            action: submit,
            advice: t.slicing.emptyAdvice,
          }}
          label={t.slicing.jobs}
          columns={columns}
          rowKey={({ id }) => id}
          search={t.slicing.search}
        />
      </Section>
      <Layers />
    </Frame>
  )
}

function useColumns(): readonly Column<SliceJob>[] {
  const t = useTexts()
  return useMemo(
    () => [
      {
        id: 'name',
        header: t.common.name,
        value: (job) => `${job.name} ${job.code}`,
        cell: (job) => (
          <TextLink to={`/slicing/jobs/${segment(job.id)}`} fw={550}>
            {jobName(job)}
          </TextLink>
        ),
      },
      { id: 'layer', header: t.slicing.layer, value: (job) => job.target_code },
      { id: 'images', header: t.slicing.sources, value: (job) => t.slicing.images(job.source_count) },
      {
        id: 'status',
        header: t.common.status,
        value: (job) => job.status,
        cell: (job) => <JobStatus job={job} />,
      },
      {
        id: 'progress',
        header: t.slicing.progress,
        value: (job) => job.progress,
        cell: (job) => <JobProgress job={job} />,
      },
      {
        id: 'submitted',
        header: t.slicing.submitted,
        value: (job) => job.created_at,
        cell: (job) => <Ago at={job.created_at} />,
      },
      actionsColumn(t, (job) => <CancelButton job={job} />),
    ],
    [t],
  )
}
