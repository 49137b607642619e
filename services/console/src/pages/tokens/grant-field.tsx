import { Alert, Button, Group, Input, Loader, MultiSelect, Radio, Stack } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react'
import type { FindCodes, Grantable } from '../../api/catalog.js'
import { useTexts } from '../../texts/texts.js'
import { Problem } from '../../ui/problem.js'
import { shortText, shownText } from '../../ui/shown-text.js'
import { type Grant, NO_GRANT } from './token-values.js'

interface GrantFieldProps {
  readonly label: string
  readonly kind: 'basemaps' | 'vectors'
  readonly find: FindCodes
  readonly value?: Grant
  readonly onChange?: (grant: Grant) => void
  readonly error?: ReactNode
}

const MODES = ['chosen', 'all', 'none'] as const
/** Time in ms after the last key press before the search starts. */
const SEARCH_AFTER_MS = 150

/** Selects the maps that a token may read: some, all, or none. */
export function GrantField({ label, kind, find, value: grant = NO_GRANT, onChange, error }: GrantFieldProps) {
  const t = useTexts().tokens
  const words = { chosen: t.chosen, all: t.all, none: t.noneGranted }
  // The field may have changed when a search ends.
  const latest = useRef(grant)
  latest.current = grant
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
          kind={kind}
          find={find}
          grant={grant}
          onChange={(change) => onChange?.({ ...latest.current, ...change })}
          invalid={error !== undefined && error !== null}
        />
      )}
      {error && <Input.Error role="alert">{error}</Input.Error>}
    </Stack>
  )
}

interface ChosenCodesProps extends Pick<GrantFieldProps, 'label' | 'kind' | 'find'> {
  readonly grant: Grant
  readonly onChange: (change: Partial<Grant>) => void
  readonly invalid: boolean
}

/** Selects codes from the service's search results. An unknown code needs a second confirmation, since it is usually a typing error. */
function ChosenCodes({ label, kind, find, grant: { codes, unknown, searching }, onChange, invalid }: ChosenCodesProps) {
  const t = useTexts().tokens
  const queries = useQueryClient()
  const [typed, setTyped] = useState('')
  const [opened, setOpened] = useState(false)
  const searchFor = (text: string) =>
    queryOptions({ queryKey: [kind, 'find', text], queryFn: ({ signal }) => find(text, signal) })
  const [settled] = useDebouncedValue(typed.trim(), SEARCH_AFTER_MS)
  const search = useQuery({ ...searchFor(settled), placeholderData: keepPreviousData })
  const found = search.data ?? []
  const names = new Map(found.map(({ code, name }) => [code, name]))
  const textOf = (code: string) => {
    const name = names.get(code) ?? code
    return name === code ? code : `${code} · ${name}`
  }
  const end = (change: Partial<Grant>) => {
    onChange({ searching: false, ...change })
    setTyped('')
    setOpened(false)
  }
  const latest = useRef(codes)
  latest.current = codes
  const take = (code: string) => end({ codes: [...new Set([...latest.current, code])] })
  /** Takes the first suggestion, or with `exactly` only an exact match of the text. An unknown code waits for a decision. */
  const accept = async (exactly: boolean) => {
    const text = typed.trim()
    if (text === '' || searching) return
    if (codes.includes(text)) return setTyped('')
    onChange({ searching: true })
    // The shown list may lag behind the typed text, and its read is cancelled when the field is left.
    const known = queries.getQueryData(searchFor(text).queryKey)
    const answer = known ?? (await find(text, new AbortController().signal).catch(() => null))
    // The search reports its failure itself.
    if (answer === null) return onChange({ searching: false })
    const isIt = answer.some((one) => one.code === text || one.aliases?.includes(text))
    const first = exactly || isIt ? undefined : ranked(answer, text).find(({ code }) => !codes.includes(code))
    if (isIt) take(text)
    else if (first !== undefined) take(first.code)
    else end({ unknown: text })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.nativeEvent.isComposing || typed.trim() === '') return
    event.preventDefault()
    // Stops the list from handling the same key press, which would undo the selection.
    event.stopPropagation()
    const isCurrent = settled === typed.trim() && !search.isPlaceholderData
    const marked = isCurrent ? markedOption(event.target as Element) : undefined
    if (marked === undefined) void accept(false)
    else take(marked)
  }
  const decide = (granted: boolean) => onChange({ unknown: '', ...(granted && { codes: [...codes, unknown] }) })
  return (
    <Stack gap="xs" onKeyDownCapture={onKeyDown}>
      <MultiSelect
        aria-label={label}
        placeholder={codes.length === 0 ? t.choose : ''}
        readOnly={searching}
        rightSection={searching || search.isFetching ? <Loader size="xs" /> : undefined}
        data={[...new Set([...names.keys(), ...codes])]}
        value={[...codes]}
        onChange={(chosen) => onChange({ codes: chosen })}
        searchable
        searchValue={typed}
        onSearchChange={setTyped}
        onBlur={() => void accept(true)}
        selectFirstOptionOnChange
        hidePickedOptions
        filter={() =>
          ranked(found, settled)
            .filter(({ code }) => !codes.includes(code))
            .map(({ code }) => ({ value: code, label: code }))
        }
        renderOption={({ option }) => <bdi className="option-text">{shownText(textOf(option.value))}</bdi>}
        dropdownOpened={opened}
        onDropdownOpen={() => setOpened(true)}
        onDropdownClose={() => setOpened(false)}
        nothingFoundMessage={search.isPending ? undefined : t.noMatch}
        clearable
        error={invalid}
      />
      {search.error !== null && <Problem title={t.searchFailed} error={search.error} />}
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

/** Returns the option that the list marks. The list marks no option yet if Enter follows the last letter at once. */
function markedOption(field: Element): string | undefined {
  const list = field.getAttribute('aria-controls')
  const marked = list === null ? null : document.getElementById(list)?.querySelector('[data-combobox-selected]')
  return marked?.getAttribute('value') ?? undefined
}

/** Sorts the search results: the exact match first, then codes that begin with the text. */
function ranked(found: readonly Grantable[], search: string): readonly Grantable[] {
  const text = search.toLowerCase()
  const rank = ({ code }: Grantable) => {
    const lower = code.toLowerCase()
    return lower === text ? 0 : lower.startsWith(text) ? 1 : 2
  }
  return found.toSorted((a, b) => rank(a) - rank(b))
}
