import { NumberInput, Radio, Stack, Text, TextInput } from '@mantine/core'
import type { DefaultBody } from '../../api/catalog.js'
import { useTexts } from '../../texts/texts.js'

/** The timing and the share of clients that an operator chose for a change of the default version. */
export interface Timing {
  readonly mode: 'now' | 'later' | 'canary'
  /** local time, in the format of the input field */
  readonly at: string
  readonly percent: number
  readonly minutes: number
}

export const AT_ONCE: Timing = { mode: 'now', at: '', percent: 10, minutes: 30 }

/** Returns the request body, or null if the chosen time is invalid or in the past. */
export function bodyOf(version: string, { mode, at, percent, minutes }: Timing, now: number): DefaultBody | null {
  if (mode === 'now') return { version }
  if (mode === 'canary') return { version, canary: { percent, minutes } }
  const time = new Date(at)
  return time.getTime() > now ? { version, at: time.toISOString() } : null
}

interface TimingFieldsProps {
  readonly timing: Timing
  readonly wrong: boolean
  readonly onChange: (timing: Timing) => void
}

export function TimingFields({ timing, wrong, onChange }: TimingFieldsProps) {
  const t = useTexts().automation
  const set = (more: Partial<Timing>) => onChange({ ...timing, ...more })
  return (
    <Stack gap="xs">
      <Radio.Group label={t.when} value={timing.mode} onChange={(mode) => set({ mode: mode as Timing['mode'] })}>
        <Stack gap={6} mt={6}>
          {(['now', 'later', 'canary'] as const).map((mode) => (
            <Radio key={mode} value={mode} label={t[mode]} />
          ))}
        </Stack>
      </Radio.Group>
      {timing.mode === 'later' && (
        <TextInput
          type="datetime-local"
          label={t.at}
          value={timing.at}
          error={wrong ? t.atMissing : null}
          onChange={(event) => set({ at: event.currentTarget.value })}
        />
      )}
      {timing.mode === 'canary' && (
        <>
          <NumberInput
            label={t.percent}
            min={1}
            max={99}
            allowDecimal={false}
            value={timing.percent}
            onChange={(value) => set({ percent: Number(value) })}
          />
          <NumberInput
            label={t.minutes}
            min={1}
            max={10_080}
            value={timing.minutes}
            onChange={(value) => set({ minutes: Number(value) })}
          />
          <Text size="sm" c="dimmed">
            {t.canaryHint}
          </Text>
        </>
      )}
    </Stack>
  )
}
