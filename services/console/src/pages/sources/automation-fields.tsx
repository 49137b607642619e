import type { ScanSource, ScanSourceBody } from '@gateway/contracts/scan-source.js'
import { NumberInput, Select, Switch, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useTexts } from '../../texts/texts.js'

/** The form values for the automatic scans of a source. */
export interface AutomationValues {
  readonly schedule: 'none' | 'every' | 'cron'
  readonly minutes: number
  readonly cron: string
  readonly timeZone: string
  readonly watch: boolean
  readonly approval: boolean
}

const EVERY_MINUTES = 60

export function automationOf(source: ScanSource | undefined): AutomationValues {
  const { schedule = null, watch = false, publish = 'automatic' } = source ?? {}
  const cron = schedule !== null && 'cron' in schedule ? schedule : null
  const every = schedule !== null && 'every_seconds' in schedule ? schedule.every_seconds : null
  return {
    schedule: cron !== null ? 'cron' : every !== null ? 'every' : 'none',
    minutes: every === null ? EVERY_MINUTES : every / 60,
    cron: cron?.cron ?? '0 3 * * *',
    timeZone: cron?.time_zone ?? '',
    watch,
    approval: publish === 'approval',
  }
}

export function automationBody(
  values: AutomationValues,
): Required<Pick<ScanSourceBody, 'schedule' | 'watch' | 'publish'>> {
  const { schedule, minutes, cron, timeZone, watch, approval } = values
  const zone = timeZone.trim()
  const chosen = {
    none: null,
    every: { every_seconds: Math.round(minutes * 60) },
    cron: { cron: cron.trim(), ...(zone !== '' && { time_zone: zone }) },
  }
  return { schedule: chosen[schedule], watch, publish: approval ? 'approval' : 'automatic' }
}

// biome-ignore lint/suspicious/noExplicitAny: the form has further values
export function AutomationFields({ form }: { form: UseFormReturnType<any> }) {
  const t = useTexts().automation
  const { schedule } = form.values as AutomationValues
  const options = (['none', 'every', 'cron'] as const).map((value) => ({ value, label: t.schedules[value] }))
  return (
    <>
      <Select label={t.schedule} data={options} allowDeselect={false} {...form.getInputProps('schedule')} />
      {schedule === 'every' && (
        <NumberInput label={t.everyMinutes} min={1} max={1440} {...form.getInputProps('minutes')} />
      )}
      {schedule === 'cron' && (
        <>
          <TextInput label={t.cron} description={t.cronHint} autoComplete="off" {...form.getInputProps('cron')} />
          <TextInput
            label={t.timeZone}
            description={t.timeZoneHint}
            autoComplete="off"
            {...form.getInputProps('timeZone')}
          />
        </>
      )}
      <Switch label={t.watch} description={t.watchHint} {...form.getInputProps('watch', { type: 'checkbox' })} />
      {(form.values as { kind?: string }).kind === 'basemap' && (
        <Switch
          label={t.publish}
          description={t.publishHint}
          {...form.getInputProps('approval', { type: 'checkbox' })}
        />
      )}
    </>
  )
}
