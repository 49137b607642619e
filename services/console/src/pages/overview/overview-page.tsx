import { SimpleGrid, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type Dashboard, dashboardQuery, edgesQuery, trafficQuery } from '../../api/system.js'
import { useTexts } from '../../texts/texts.js'
import { Loaded } from '../../ui/loaded.js'
import { Page as Frame } from '../../ui/page.js'
import { PageTabs } from '../../ui/page-tabs.js'
import { Attention } from './attention.js'
import { BusiestBasemaps, BusiestTokens } from './busiest.js'
import { CheckButton } from './check-button.js'
import { EdgesSection } from './edges-section.js'
import { Figures } from './figures.js'
import { FirstRun } from './first-run.js'
import { LastCheck } from './last-check.js'
import { RecentChanges, RecentScans } from './recent.js'
import { RemoteCacheSection } from './remote-cache-section.js'
import { RunningJob } from './running-job.js'
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
