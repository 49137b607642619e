import { Input, Radio, Stack, TagsInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTexts } from '../../texts/texts.js'
import { GRANT_ALL } from './grant-all.js'

export interface Grant {
  readonly mode: 'chosen' | 'all' | 'none'
  readonly codes: readonly string[]
}

export function grantCodes({ mode, codes }: Grant): string[] {
  if (mode === 'all') return [GRANT_ALL]
  return mode === 'chosen' ? [...codes] : []
}

interface GrantFieldProps {
  readonly label: string
  readonly known: readonly { readonly code: string; readonly name: string }[]
  readonly value?: Grant
  readonly onChange?: (grant: Grant) => void
  readonly error?: ReactNode
}

const MODES = ['chosen', 'all', 'none'] as const

/** Which maps a token may read: some, all, or none. */
export function GrantField({ label, known, value, onChange, error }: GrantFieldProps) {
  const t = useTexts().tokens
  const grant = value ?? { mode: 'none', codes: [] }
  const words = { chosen: t.chosen, all: t.all, none: t.noneGranted }
  return (
    <Stack gap="xs">
      <Radio.Group
        label={label}
        value={grant.mode}
        onChange={(mode) => onChange?.({ ...grant, mode: mode as Grant['mode'] })}
      >
        <Stack gap="xs" mt="xs">
          {MODES.map((mode) => (
            <Radio key={mode} value={mode} label={words[mode]} />
          ))}
        </Stack>
      </Radio.Group>
      {grant.mode === 'chosen' && (
        <TagsInput
          aria-label={label}
          placeholder={grant.codes.length === 0 ? t.choose : ''}
          data={known.map(({ code }) => code)}
          value={[...grant.codes]}
          onChange={(codes) => onChange?.({ ...grant, codes })}
          acceptValueOnBlur
          clearable
          error={error !== undefined && error !== null}
          renderOption={({ option }) => {
            const name = known.find(({ code }) => code === option.value)?.name
            return name === undefined || name === option.value ? option.value : `${option.value} · ${name}`
          }}
        />
      )}
      {error && <Input.Error role="alert">{error}</Input.Error>}
    </Stack>
  )
}
