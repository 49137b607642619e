import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import type { ScanSource } from '@gateway/contracts/scan-source.js'
import type { Token } from '@gateway/contracts/token.js'
import type { AdminVector } from '@gateway/contracts/vector.js'
import { ActionIcon, Button, Kbd } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { Spotlight, type SpotlightActionData, spotlight } from '@mantine/spotlight'
import { IconFolderSearch, IconKey, IconSearch, IconStack2, IconVector, type TablerIcon } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useEffect, useMemo, useState } from 'react'
import { useNavigate } from 'react-router'
import { BASEMAPS, VECTORS } from '../api/catalog.js'
import { segment } from '../api/client.js'
import { type ListSource, listQuery } from '../api/list.js'
import { TOKENS } from '../api/tokens.js'
import { useTexts } from '../texts/texts.js'
import { shortText } from '../ui/shown-text.js'
import { navigation } from './navigation.js'

export function SearchButton() {
  const t = useTexts()
  return (
    <>
      <Button
        variant="default"
        size="xs"
        visibleFrom="sm"
        onClick={spotlight.open}
        leftSection={<IconSearch size={15} aria-hidden />}
        rightSection={
          <Kbd size="xs" aria-hidden>
            {isMac() ? '⌘' : 'Ctrl'} K
          </Kbd>
        }
        className="search-button"
      >
        {t.nav.search}
      </Button>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        hiddenFrom="sm"
        aria-label={t.nav.search}
        onClick={spotlight.open}
      >
        <IconSearch size={20} stroke={1.6} />
      </ActionIcon>
    </>
  )
}

const isMac = () => /mac|iphone|ipad/i.test(navigator.userAgent)

/** Finds everything that has an address by its name, in lists of any length: the service searches. */
export function Search() {
  const t = useTexts()
  const [typed, setTyped] = useState('')
  const { found, searching } = useFound(typed)
  const go = useNavigate()
  const actions = useMemo((): SpotlightActionData[] => {
    const text = typed.trim().toLowerCase()
    const pages = navigation(t)
      .flatMap(({ entries }) => entries)
      .filter(({ label }) => label.toLowerCase().includes(text))
      .map(({ to, label, icon: Icon, outside }) => ({
        id: `page ${to}`,
        label,
        leftSection: <Icon size={20} stroke={1.5} aria-hidden />,
        onClick: () => (outside ? window.location.assign(to) : go(to)),
      }))
    const things = found.map(({ to, label, note, icon: Icon }) => ({
      id: to,
      label: shortText(label),
      description: note,
      leftSection: <Icon size={20} stroke={1.5} aria-hidden />,
      onClick: () => go(to),
    }))
    return [...pages, ...things]
  }, [t, found, go, typed])
  const [entered, setEntered] = useState(false)
  // The list marks its first entry when something is typed, which is before the service has found it.
  useEffect(() => {
    if (!entered || searching) return
    setEntered(false)
    document.querySelector<HTMLElement>('[data-action]')?.click()
  }, [entered, searching])
  const onKeyDown = ({ key, nativeEvent }: KeyboardEvent) => {
    if (key === 'Enter' && !nativeEvent.isComposing && !hasMark()) setEntered(true)
  }
  return (
    <Spotlight
      actions={actions}
      query={typed}
      onQueryChange={(text) => {
        setTyped(text)
        setEntered(false)
      }}
      filter={(_, all) => all}
      scrollable
      maxHeight={440}
      shortcut={['mod + K', '/']}
      nothingFound={searching ? t.nav.searching : t.nav.searchNothing}
      searchProps={{
        leftSection: <IconSearch size={18} aria-hidden />,
        placeholder: t.nav.searchHint,
        'aria-label': t.nav.search,
        onKeyDown,
      }}
      attributes={{ content: { 'aria-label': t.nav.search } }}
      overlayProps={{ backgroundOpacity: 0.45 }}
    />
  )
}

/** Whether Enter would open something. */
function hasMark(): boolean {
  return document.querySelector('[data-action][data-selected]') !== null
}

/** Of each kind; more are in its list. */
const LISTED = 6
const SEARCH_AFTER_MS = 150

function useFound(typed: string) {
  const t = useTexts().nav
  const [q] = useDebouncedValue(typed.trim(), SEARCH_AFTER_MS)
  const find = <T,>(source: ListSource) => ({
    ...listQuery<T>({ key: source.key, path: source.path }, { q, limit: LISTED }),
    enabled: q !== '',
    placeholderData: keepPreviousData,
  })
  const basemaps = useQuery(find<AdminBasemap>(BASEMAPS))
  const vectors = useQuery(find<AdminVector>(VECTORS))
  const sources = useQuery(find<ScanSource>({ key: 'scan-sources', path: '/scan-sources' }))
  const tokens = useQuery(find<Token>(TOKENS))
  // Nothing is missing before every list has answered.
  const searching =
    q !== typed.trim() ||
    [basemaps, vectors, sources, tokens].some((query) => query.isPending || query.isPlaceholderData)
  const found = useMemo(() => {
    if (q === '') return []
    const found = (to: string, label: string, note: string, icon: TablerIcon) => ({ to, label, note, icon })
    return [
      ...(tokens.data?.items ?? []).map(({ id, name, prefix }) =>
        found(`/tokens/${segment(id)}`, name, `${t.tokens} · ${prefix}`, IconKey),
      ),
      ...(basemaps.data?.items ?? []).map(({ code, name }) =>
        found(`/basemaps/${segment(code)}`, name, `${t.basemaps} · ${code}`, IconStack2),
      ),
      ...(vectors.data?.items ?? []).map(({ code, name, relative_path: path }) =>
        found(`/vectors/${segment(code)}`, name, `${t.vectors} · ${code} · ${path}`, IconVector),
      ),
      ...(sources.data?.items ?? []).map(({ code, name, path }) =>
        found(`/sources/${segment(code)}`, name, `${t.sources} · ${path}`, IconFolderSearch),
      ),
    ]
  }, [q, basemaps.data, vectors.data, sources.data, tokens.data, t])
  return { found, searching: searching && typed.trim() !== '' }
}
