import type { ListedSliceJob } from '@gateway/contracts/slice.js'
import IconLayoutGrid from '~icons/layout-grid'
import IconLayoutGridAdd from '~icons/layout-grid-add'
import { segment } from '../../api/client.js'
import { SLICE_JOBS } from '../../api/slicing.js'
import { useTexts } from '../../texts/texts.js'
import { jobActions } from '../../ui/bulk-actions.js'
import { actionsColumn, agoColumn, type Column } from '../../ui/columns.js'
import { ButtonLink } from '../../ui/links.js'
import { Name, NameLink } from '../../ui/name.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { type FiltersOf, ServerTable } from '../../ui/server-table.js'
import { yesOrNo } from '../../ui/use-catalog-filters.js'
import { CancelJobButton } from './cancel-job-button.js'
import { JobProgress, JobStatus, jobName } from './job-status.js'
import { Layers } from './layers.js'

export function Page() {
  const t = useTexts()
  const columns = useColumns()
  const states = ['pending', 'running', 'succeeded', 'failed'] as const
  const filters: FiltersOf<typeof SLICE_JOBS> = [
    { name: 'status', label: t.common.status, options: states.map((state) => [state, t.slicing.statuses[state]]) },
    { name: 'cancelled', label: t.slicing.statuses.cancelled, options: yesOrNo(t) },
    { name: 'acknowledged', label: t.overview.seen, options: yesOrNo(t) },
  ]
  const submit = (
    <ButtonLink to="/slicing/new" needs="operator" icon={IconLayoutGridAdd}>
      {t.slicing.submit}
    </ButtonLink>
  )
  return (
    <Frame title={t.slicing.title} lead={t.slicing.lead} actions={submit}>
      <Section title={t.slicing.jobs}>
        <ServerTable
          source={SLICE_JOBS}
          filters={filters}
          what={t.slicing.what}
          empty={{
            title: t.slicing.empty,
            icon: IconLayoutGrid,
            action: submit,
            advice: t.slicing.emptyAdvice,
          }}
          label={t.slicing.jobs}
          columns={columns}
          rowKey={({ id }) => id}
          bulk={{ list: 'jobs', changes: [SLICE_JOBS.key], actions: jobActions(t), nameOf: jobName }}
          search={t.slicing.search}
        />
      </Section>
      <Layers />
    </Frame>
  )
}

function useColumns(): readonly Column<ListedSliceJob>[] {
  const t = useTexts()
  return [
    {
      id: 'name',
      header: t.common.name,
      sort: 'name',
      value: (job) => `${job.name} ${job.code}`,
      cell: (job) => <NameLink to={`/slicing/jobs/${segment(job.id)}`} fw={550} name={jobName(job)} />,
    },
    {
      id: 'layer',
      header: t.slicing.layer,
      sort: 'target_code',
      value: (job) => job.target_code,
      cell: (job) => <Name>{job.target_code}</Name>,
    },
    { id: 'images', header: t.slicing.sources, value: (job) => job.source_count, numeric: true },
    {
      id: 'status',
      header: t.common.status,
      sort: 'status',
      value: (job) => t.slicing.statuses[job.cancelled ? 'cancelled' : job.status],
      cell: (job) => <JobStatus job={job} />,
    },
    {
      id: 'progress',
      header: t.slicing.progress,
      sort: 'progress',
      value: (job) => job.progress,
      cell: (job) => <JobProgress job={job} />,
    },
    agoColumn('submitted', t.slicing.submitted, ({ created_at: at }) => at, { sort: 'created_at' }),
    actionsColumn(t, (job) => <CancelJobButton job={job} />),
  ]
}
