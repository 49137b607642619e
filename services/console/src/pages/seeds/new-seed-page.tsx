import type { BasemapVersion } from '@gateway/contracts/basemap.js'
import { Group, NumberInput, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { type SeedBody, seedEstimateQuery, useSeed } from '../../api/seeds.js'
import { useNavigate } from '../../router/hooks.js'
import { SAVED } from '../../router/router.js'
import { useTexts } from '../../texts/texts.js'
import { AsCommand } from '../../ui/as-command.js'
import { Fact, Facts } from '../../ui/facts.js'
import { FormGuard } from '../../ui/leave-guard.js'
import { notifyDone } from '../../ui/notify.js'
import { Problem } from '../../ui/problem.js'
import { Section } from '../../ui/section.js'
import { useFormats } from '../../ui/use-formats.js'
import { WriteButton } from '../../ui/write-button.js'
import { PartFields, VersionPartPage } from '../basemaps/version-part.js'
import { parseBounds } from '../pushes/export-form.js'

/** Limits and first value of the rate, as those of the service. */
const RATE = { min: 1, max: 1000, first: 10 }
/** Levels above the first one of a version that are suggested: the number of tiles is four times as large for each. */
const FIRST_LEVELS = 5
const WORLD = [-180, -85, 180, 85] as const
/** Time in ms without a change after which an estimate is asked for. */
const PAUSE_MS = 400

export function Page() {
  const t = useTexts()
  return (
    <VersionPartPage title={t.seeds.newTitle}>
      {(code, version) => <SeedForm key={version.version} code={code} version={version} />}
    </VersionPartPage>
  )
}

export function SeedForm({ code, version }: { code: string; version: BasemapVersion }) {
  const t = useTexts()
  const go = useNavigate()
  const write = useSeed()
  const first = { min: version.min_zoom, max: Math.min(version.max_zoom, version.min_zoom + FIRST_LEVELS) }
  const [isDirty, setDirty] = useState(false)
  const [part, setPart] = useState({ bounds: '', zooms: first })
  const [rate, setRate] = useState(RATE.first)
  const { zooms } = part
  const parsed = parseBounds(part.bounds)
  const body: SeedBody = {
    basemap_code: code,
    version: version.version,
    bounds: [...(parsed ?? version.bounds ?? WORLD)] as SeedBody['bounds'],
    min_zoom: zooms.min,
    max_zoom: zooms.max,
    rate,
  }
  const [settled] = useDebouncedValue(JSON.stringify(body), PAUSE_MS)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (parsed === null) return
    write.mutate(body, {
      onSuccess: () => {
        notifyDone(t.seeds.started)
        go('/seeds', SAVED)
      },
    })
  }
  return (
    <form onSubmit={submit} onChange={() => setDirty(true)} noValidate>
      <FormGuard isDirty={() => isDirty} />
      <Section title={t.seeds.newTitle} quiet>
        <Stack maw={560}>
          <PartFields version={version} value={part} boundsHint={t.seeds.boundsHint} onChange={setPart} />
          <NumberInput
            label={t.seeds.rate}
            description={t.seeds.rateHint}
            min={RATE.min}
            max={RATE.max}
            allowDecimal={false}
            value={rate}
            onChange={(value) => setRate(Number(value))}
          />
        </Stack>
      </Section>
      {parsed !== null && <Estimate body={JSON.parse(settled)} />}
      <Section title={t.seeds.start} quiet>
        {write.error !== null && <Problem title={t.seeds.refused} error={write.error} />}
        <Group>
          <WriteButton needs="operator" type="submit" loading={write.isPending} disabled={parsed === null}>
            {t.seeds.start}
          </WriteButton>
        </Group>
        <AsCommand command={() => write.commandOf(body)} />
      </Section>
    </form>
  )
}

function Estimate({ body }: { body: SeedBody }) {
  const t = useTexts()
  const formats = useFormats()
  const { data, error } = useQuery(seedEstimateQuery(body))
  return (
    <Section title={t.seeds.estimate}>
      <div aria-live="polite">
        {error !== null && <Problem title={t.seeds.estimateFailed} error={error} />}
        {data !== undefined && (
          <>
            <Text c="dimmed">{t.seeds.estimateHint}</Text>
            <Facts>
              <Fact name={t.seeds.tiles}>{formats.number(data.tiles)}</Fact>
              <Fact name={t.seeds.estimateRequests}>{formats.number(data.requests)}</Fact>
              <Fact name={t.seeds.estimateTime}>{formats.duration(data.seconds)}</Fact>
              <Fact name={t.seeds.estimateBytes}>
                {data.bytes_estimate === null ? '–' : formats.bytes(data.bytes_estimate)}
              </Fact>
            </Facts>
          </>
        )}
      </div>
    </Section>
  )
}
