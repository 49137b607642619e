import { Alert, Button, Group, Input, MultiSelect, Radio, Stack } from '@mantine/core'
import { type KeyboardEvent, type ReactNode, useState } from 'react'
import { useTexts } from '../../texts/texts.js'
import { shortText, shownText } from '../../ui/shown-text.js'
import { GRANT_ALL } from './grant-all.js'

export interface Grant {
  readonly mode: 'chosen' | 'all' | 'none'
  readonly codes: readonly string[]
  /** a code that nothing has: entered, and neither confirmed nor left out yet */
  readonly unknown: string
}

export const NO_GRANT: Grant = { mode: 'none', codes: [], unknown: '' }

export function grantCodes({ mode, codes }: Grant): string[] {
  if (mode === 'all') return [GRANT_ALL]
  return mode === 'chosen' ? [...codes] : []
}

export interface Grantable {
  readonly code: string
  readonly name: string
  /** what a grant may name it by as well */
  readonly aliases?: readonly string[]
}

interface GrantFieldProps {
  readonly label: string
  readonly known: readonly Grantable[]
  /** what is known is still being loaded: nothing can be chosen before, as it would be taken for a slip */
  readonly loading?: boolean
  readonly value?: Grant
  readonly onChange?: (grant: Grant) => void
  readonly error?: ReactNode
}

const MODES = ['chosen', 'all', 'none'] as const
/** A list of thousands would freeze the page; typing narrows it down. */
const MAX_OPTIONS = 50

/** Which maps a token may read: some, all, or none. */
export function GrantField({
  label,
  known,
  loading = false,
  value: grant = NO_GRANT,
  onChange,
  error,
}: GrantFieldProps) {
  const t = useTexts().tokens
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
        <ChosenCodes
          label={label}
          known={known}
          loading={loading}
          grant={grant}
          onChange={(change) => onChange?.({ ...grant, ...change })}
          invalid={error !== undefined && error !== null}
        />
      )}
      {error && <Input.Error role="alert">{error}</Input.Error>}
    </Stack>
  )
}

interface ChosenCodesProps {
  readonly label: string
  readonly known: readonly Grantable[]
  readonly loading: boolean
  readonly grant: Grant
  readonly onChange: (change: Partial<Grant>) => void
  readonly invalid: boolean
}

/** Codes are chosen from what exists. One that nothing has needs a second yes: it is more often a slip than a plan. */
function ChosenCodes({ label, known, loading, grant: { codes, unknown }, onChange, invalid }: ChosenCodesProps) {
  const t = useTexts().tokens
  const [typed, setTyped] = useState('')
  const [opened, setOpened] = useState(false)
  const names = new Map(known.map(({ code, name }) => [code, name]))
  const options = [...names.keys(), ...codes.filter((code) => !names.has(code))]
  const textOf = (code: string) => {
    const name = names.get(code) ?? code
    return name === code ? code : `${code} · ${name}`
  }
  const matching = (search: string) => ranked(options, textOf, search).filter((code) => !codes.includes(code))
  const end = (change: Partial<Grant>) => {
    onChange(change)
    setTyped('')
    setOpened(false)
  }
  const accept = () => {
    const code = typed.trim()
    if (code === '' || codes.includes(code)) return
    const exists = known.some((one) => one.code === code || one.aliases?.includes(code))
    end(exists ? { codes: [...codes, code] } : { unknown: code })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.nativeEvent.isComposing || typed.trim() === '') return
    event.preventDefault()
    // The list must not answer the same key once more: it would take back what was taken.
    event.stopPropagation()
    const taken = markedOption(event.target as Element) ?? matching(typed)[0]
    if (taken === undefined) accept()
    else end({ codes: [...codes, taken] })
  }
  const decide = (granted: boolean) => onChange({ unknown: '', ...(granted && { codes: [...codes, unknown] }) })
  return (
    <Stack gap="xs" onKeyDownCapture={onKeyDown}>
      <MultiSelect
        aria-label={label}
        placeholder={codes.length === 0 ? t.choose : ''}
        disabled={loading}
        data={options}
        value={[...codes]}
        onChange={(chosen) => onChange({ codes: chosen })}
        searchable
        searchValue={typed}
        onSearchChange={setTyped}
        onBlur={accept}
        selectFirstOptionOnChange
        hidePickedOptions
        filter={({ search, limit }) =>
          matching(search)
            .slice(0, limit)
            .map((code) => ({ value: code, label: code }))
        }
        renderOption={({ option }) => <bdi className="option-text">{shownText(textOf(option.value))}</bdi>}
        dropdownOpened={opened}
        onDropdownOpen={() => setOpened(true)}
        onDropdownClose={() => setOpened(false)}
        limit={MAX_OPTIONS}
        nothingFoundMessage={t.noMatch}
        clearable
        error={invalid}
      />
      {unknown !== '' && (
        <Alert color="orange" title={t.unknown(shortText(unknown))} role="alert">
          <Stack gap="xs">
            {t.unknownAdvice}
            <Group gap="xs">
              <Button size="xs" variant="default" onClick={() => decide(true)}>
                {t.grantUnknown(shortText(unknown))}
              </Button>
              <Button size="xs" variant="default" onClick={() => decide(false)}>
                {t.leaveOut}
              </Button>
            </Group>
          </Stack>
        </Alert>
      )}
    </Stack>
  )
}

/** The option that the list marks; it marks none yet when Enter follows the last letter at once. */
function markedOption(field: Element): string | undefined {
  const list = field.getAttribute('aria-controls')
  const marked = list === null ? null : document.getElementById(list)?.querySelector('[data-combobox-selected]')
  return marked?.getAttribute('value') ?? undefined
}

/** The codes whose text contains what is searched for; first the code that is it, then those that begin with it. */
function ranked(codes: readonly string[], textOf: (code: string) => string, search: string): readonly string[] {
  const text = search.trim().toLowerCase()
  const rank = (code: string) => {
    const lower = code.toLowerCase()
    return lower === text ? 0 : lower.startsWith(text) ? 1 : textOf(code).toLowerCase().includes(text) ? 2 : 3
  }
  return codes.filter((code) => rank(code) < 3).sort((a, b) => rank(a) - rank(b))
}
