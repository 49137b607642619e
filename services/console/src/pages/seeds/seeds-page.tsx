import type { Seed } from '@gateway/contracts/seed.js'
import { Progress, Stack, Text } from '@mantine/core'
import IconCloudDownload from '~icons/cloud-download'
import { SEEDS, useCancelSeed } from '../../api/seeds.js'
import { useTexts } from '../../texts/texts.js'
import { CancelButton } from '../../ui/cancel-button.js'
import { actionsColumn, agoColumn, type Column } from '../../ui/columns.js'
import { ButtonLink } from '../../ui/links.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { type FiltersOf, ServerTable } from '../../ui/server-table.js'
import { ServerText } from '../../ui/server-text.js'
import { shortText, shownText } from '../../ui/shown-text.js'
import { Status, type Tone } from '../../ui/status.js'
import { yesOrNo } from '../../ui/use-catalog-filters.js'
import { useFormats } from '../../ui/use-formats.js'
import { useVersionPartColumns, versionName } from '../basemaps/version-part.js'

const TONES: Record<Seed['status'], Tone> = { pending: 'waiting', running: 'busy', succeeded: 'good', failed: 'bad' }
const STATUSES = ['pending', 'running', 'succeeded', 'failed'] as const

export function Page() {
  const t = useTexts()
  const filters: FiltersOf<typeof SEEDS> = [
    { name: 'status', label: t.common.status, options: STATUSES.map((one) => [one, t.slicing.statuses[one]]) },
    { name: 'cancelled', label: t.slicing.statuses.cancelled, options: yesOrNo(t) },
  ]
  return (
    <Frame title={t.seeds.title} lead={t.seeds.lead}>
      <Section title={t.seeds.title} quiet>
        <ServerTable
          source={SEEDS}
          filters={filters}
          what={t.seeds.what}
          empty={{
            title: t.seeds.empty,
            icon: IconCloudDownload,
            action: <ButtonLink to="/versions">{t.exports.versions}</ButtonLink>,
            advice: t.seeds.emptyAdvice,
          }}
          label={t.seeds.title}
          columns={useColumns()}
          rowKey={({ id }) => id}
          search={t.seeds.search}
        />
      </Section>
    </Frame>
  )
}

function useColumns(): readonly Column<Seed>[] {
  const t = useTexts()
  const formats = useFormats()
  const part = useVersionPartColumns<Seed>(({ min_zoom, max_zoom }) => `${min_zoom}–${max_zoom}`)
  return [
    ...part,
    {
      id: 'status',
      header: t.common.status,
      sort: 'status',
      value: ({ status }) => status,
      cell: (seed) => <SeedStatus seed={seed} />,
    },
    {
      id: 'tiles',
      header: t.seeds.tiles,
      sort: 'total',
      numeric: true,
      value: ({ done }) => done,
      cell: ({ done, failed, total }) => (
        <>
          {t.seeds.tilesOf(formats.number(done), formats.number(total))}
          {failed > 0 && (
            <Text size="xs" c="orange">
              {t.seeds.failedTiles(formats.number(failed))}
            </Text>
          )}
        </>
      ),
    },
    { id: 'rate', header: t.seeds.rate, numeric: true, value: ({ rate }) => rate },
    agoColumn('created', t.common.created, ({ created_at: at }) => at, { sort: 'created_at' }),
    actionsColumn(t, (seed) => <Cancel seed={seed} />),
  ]
}

function SeedStatus({ seed }: { seed: Seed }) {
  const t = useTexts()
  const { status, cancelled, progress, message, failures } = seed
  const [first] = failures
  return (
    <Stack gap={4}>
      {cancelled ? (
        <Status tone="off">{t.slicing.statuses.cancelled}</Status>
      ) : (
        <Status tone={TONES[status]}>{t.slicing.statuses[status]}</Status>
      )}
      {status === 'running' && (
        <Progress value={progress} miw={80} aria-label={t.seeds.progressOf(shortText(versionName(seed)))} />
      )}
      {message !== '' && (
        <Text size="sm" lineClamp={2}>
          <ServerText text={shownText(message)} code={seed.message_code} params={seed.message_params} />
        </Text>
      )}
      {first !== undefined && (
        <Text size="xs" c="dimmed" lineClamp={2}>
          {shownText(`${first.z}/${first.x}/${first.y}: ${first.message}`)}
        </Text>
      )}
    </Stack>
  )
}

function Cancel({ seed }: { seed: Seed }) {
  const t = useTexts().seeds
  const cancel = useCancelSeed(seed.id)
  const isOpen = seed.status === 'pending' || seed.status === 'running'
  return isOpen ? <CancelButton texts={t} title={t.cancelTitle} name={versionName(seed)} write={cancel} /> : null
}
