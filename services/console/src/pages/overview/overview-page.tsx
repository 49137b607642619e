import type { HealthCheck } from '@gateway/contracts/health.js'
import { Group, Progress, SimpleGrid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import IconHeartbeat from '~icons/heartbeat'
import { useHealthCheck } from '../../api/catalog.js'
import { pendingJobsQuery, runningJobQuery } from '../../api/slicing.js'
import { type Dashboard, dashboardQuery, edgesQuery, trafficQuery } from '../../api/system.js'
import type { Texts } from '../../texts/en.js'
import { useTexts } from '../../texts/texts.js'
import { Loaded } from '../../ui/loaded.js'
import { NameLink } from '../../ui/name.js'
import { notifyDone } from '../../ui/notify.js'
import { Page as Frame } from '../../ui/page.js'
import { PageTabs } from '../../ui/page-tabs.js'
import { Section } from '../../ui/section.js'
import { Ago } from '../../ui/time.js'
import { useFormats } from '../../ui/use-formats.js'
import { ActionButton } from '../../ui/write-button.js'
import { TimeLeft } from '../slicing/job-status.js'
import { Attention } from './attention.js'
import { BusiestBasemaps, BusiestTokens } from './busiest.js'
import { EdgesSection } from './edges-section.js'
import { Figures } from './figures.js'
import { FirstRun } from './first-run.js'
import { RecentChanges, RecentScans } from './recent.js'
import { RemoteCacheSection } from './remote-cache-section.js'
import { TrafficSection } from './traffic-section.js'

export function Page() {
  const t = useTexts()
  const dashboard = useQuery(dashboardQuery)
  const edges = useQuery(edgesQuery)
  const traffic = useQuery(trafficQuery())
  const tabs = (data: Dashboard) => [
    {
      id: 'now',
      label: t.maps.overview.now,
      content: (
        <>
          <div className="overview-now">
            <Attention dashboard={data} edges={edges.data?.items} />
            <TrafficSection />
          </div>
          <EdgesSection query={edges} traffic={traffic.data} />
        </>
      ),
    },
    {
      id: 'busiest',
      label: t.maps.overview.busiest,
      content: (
        <>
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
            <BusiestTokens />
            <BusiestBasemaps />
          </SimpleGrid>
          <RemoteCacheSection edges={edges.data?.items} />
        </>
      ),
    },
    {
      id: 'activity',
      label: t.maps.overview.activity,
      content: (
        <>
          <RunningJob />
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
            <RecentScans sources={data.scan_sources} />
            <RecentChanges entries={data.audit} />
          </SimpleGrid>
        </>
      ),
    },
  ]
  return (
    <Frame
      title={t.nav.overview}
      lead={dashboard.data && <LastCheck health={dashboard.data.health} />}
      actions={<CheckButton />}
    >
      <Loaded query={dashboard} what={t.overview.what}>
        {(data) => (
          <Stack gap="sm">
            <FirstRun dashboard={data} edges={edges.data?.items} />
            <Figures dashboard={data} edges={edges.data?.items} traffic={traffic.data} />
            <PageTabs label={t.nav.overview} tabs={tabs(data)} />
          </Stack>
        )}
      </Loaded>
    </Frame>
  )
}

/** Checks that every file in the catalog can be opened. */
function CheckButton() {
  const t = useTexts().overview
  const onDone = (health: HealthCheck) => notifyDone(t.checked, checkResult(t, health))
  return (
    <ActionButton
      needs="operator"
      variant="default"
      icon={IconHeartbeat}
      write={useHealthCheck()}
      onDone={onDone}
      failed={t.checkFailed}
    >
      {t.check}
    </ActionButton>
  )
}

function RunningJob() {
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

function checkResult(t: Texts['overview'], health: HealthCheck): string {
  const { versions_checked: versions, versions_missing: lost, vectors_checked: vectors } = health
  return t.checkResult(versions, lost, vectors, health.vectors_missing)
}

/** Time and result of the last availability check; null: no check has run yet. */
function LastCheck({ health }: { health: HealthCheck | null }) {
  const t = useTexts().overview
  if (health === null) return <>{t.neverChecked}</>
  return (
    <>
      {t.lastCheck} <Ago at={health.checked_at} />: {checkResult(t, health)}
    </>
  )
}
