import type { Role } from '@gateway/contracts/operator.js'
import { useMantineColorScheme } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { Spotlight, type SpotlightActionData, type SpotlightActionGroupData } from '@mantine/spotlight'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import IconFolderSearch from '~icons/folder-search'
import IconKey from '~icons/key'
import IconLayoutGrid from '~icons/layout-grid'
import IconPalette from '~icons/palette'
import IconPlugConnected from '~icons/plug-connected'
import IconSearch from '~icons/search'
import IconStack2 from '~icons/stack-2'
import IconVector from '~icons/vector'
import { BASEMAPS, VECTORS } from '../api/catalog.js'
import { segment } from '../api/client.js'
import { type ListSource, listQuery, withoutSecret } from '../api/list.js'
import { TARGETS } from '../api/pushes.js'
import { SCAN_SOURCES } from '../api/scan-sources.js'
import { useAllowed } from '../api/session.js'
import { SLICE_JOBS } from '../api/slicing.js'
import { STYLES } from '../api/styles.js'
import { TOKENS } from '../api/tokens.js'
import { useNavigate } from '../router/hooks.js'
import { useLanguage, useTexts } from '../texts/texts.js'
import type { Icon } from '../ui/icon.js'
import { shownText } from '../ui/shown-text.js'
import { navigation } from './navigation.js'
import { basemapActions, displayActions, generalActions, type SearchAction } from './search-actions.js'

/** Finds all resources by name, in lists of any length: the service searches. */
export function Search() {
  const { texts: t, choose } = useLanguage()
  const { setColorScheme } = useMantineColorScheme()
  const [typed, setTyped] = useState('')
  const { found, searching } = useFound(typed)
  const go = useNavigate()
  const allowed = useRoles()
  const actions = useMemo((): SpotlightActionGroupData[] => {
    const text = typed.trim().toLowerCase()
    const pages = navigation(t)
      .flatMap(({ entries }) => entries)
      .filter(({ label }) => label.toLowerCase().includes(text))
      .map(({ to, label, icon: Icon, outside }) => ({
        id: `page ${to}`,
        label,
        leftSection: <Icon size={20} stroke={1.5} />,
        onClick: () => (outside ? window.location.assign(to) : go(to)),
      }))
    const things = found.map(({ to, label, note, icon: Icon }) => ({
      id: to,
      label: shownText(label),
      description: note,
      leftSection: <Icon size={20} stroke={1.5} />,
      onClick: () => go(to),
    }))
    const display = displayActions(t, { scheme: setColorScheme, language: choose })
    const actions = [...generalActions(t), ...display, ...found.flatMap((one) => one.actions ?? [])]
      .filter(({ needs }) => allowed[needs])
      // Words in any order: "new token" and "token new".
      .filter(({ label, words = '' }) =>
        text.split(/\s+/).every((word) => `${label} ${words}`.toLowerCase().includes(word)),
      )
      .map(({ to, label, icon: Icon, outside, run }) => ({
        id: `action ${to}`,
        label: shownText(label),
        leftSection: <Icon size={20} stroke={1.5} />,
        onClick: () => (run !== undefined ? run() : outside ? window.location.assign(to) : go(to)),
      }))
    const group = (name: string, entries: SpotlightActionData[]) =>
      entries.length === 0 ? [] : [{ group: name, actions: entries }]
    const listed = [...group(t.nav.pages, pages), ...group(t.nav.things, things), ...group(t.nav.actions, actions)]
    // An exact code is the first hit, whatever page or action has the same word.
    const exact = (found[0]?.code ?? '').toLowerCase() === text && text !== ''
    return exact ? listed.sort((a, b) => Number(b.group === t.nav.things) - Number(a.group === t.nav.things)) : listed
  }, [t, found, go, typed, allowed, choose, setColorScheme])
  const [entered, setEntered] = useState(false)
  // The list marks its first entry on typing, which is before the service has found it.
  useEffect(() => {
    if (!entered || searching) return
    setEntered(false)
    document.querySelector<HTMLElement>('[data-action]')?.click()
  }, [entered, searching])
  const hasMoved = useRef(false)
  // Results that arrive later may come before the entry that was first on typing, which keeps the mark otherwise.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list moves the mark
  useEffect(() => {
    if (hasMoved.current || !hasMark()) return
    document.querySelector('[data-action][data-selected]')?.removeAttribute('data-selected')
    document.querySelector('[data-action]')?.setAttribute('data-selected', 'true')
  }, [actions])
  const onKeyDown = ({ key, nativeEvent }: KeyboardEvent) => {
    if (key === 'ArrowDown' || key === 'ArrowUp') hasMoved.current = true
    if (key === 'Enter' && !nativeEvent.isComposing && !hasMark()) setEntered(true)
  }
  return (
    <Spotlight
      actions={actions}
      query={typed}
      onQueryChange={(text) => {
        setTyped(text)
        setEntered(false)
        hasMoved.current = false
      }}
      filter={(_, all) => all}
      scrollable
      maxHeight={440}
      // The button has the shortcut, because it exists earlier.
      shortcut={null}
      nothingFound={searching ? t.nav.searching : t.nav.searchNothing}
      searchProps={{
        leftSection: <IconSearch size={18} />,
        placeholder: t.nav.searchHint,
        'aria-label': t.nav.search,
        onKeyDown,
      }}
      attributes={{ content: { 'aria-label': t.nav.search } }}
      overlayProps={{ backgroundOpacity: 0.45 }}
    />
  )
}

/** Returns the roles of the user. */
function useRoles(): Readonly<Record<Role, boolean>> {
  const [viewer, operator, admin] = [useAllowed('viewer'), useAllowed('operator'), useAllowed('admin')]
  return useMemo(() => ({ viewer, operator, admin }), [viewer, operator, admin])
}

/** True if Enter would open an entry. */
function hasMark(): boolean {
  return document.querySelector('[data-action][data-selected]') !== null
}

/** Maximum entries of each kind; the list of the kind has more. */
const LISTED = 6
const SEARCH_AFTER_MS = 150

interface Found {
  readonly to: string
  readonly label: string
  readonly note: string
  readonly icon: Icon
  /** by which it can be named exactly; of a token its prefix */
  readonly code: string
  /** actions for the entry */
  readonly actions?: readonly SearchAction[]
}

function useFound(typed: string) {
  const t = useTexts()
  const [q] = useDebouncedValue(typed.trim(), SEARCH_AFTER_MS)
  const find = <T,>({ key, read }: ListSource<T, { q?: string; limit?: number }>) => ({
    ...listQuery({ key, read }, { q: withoutSecret(q), limit: LISTED }),
    enabled: q !== '',
    placeholderData: keepPreviousData,
  })
  const basemaps = useQuery(find(BASEMAPS))
  const vectors = useQuery(find(VECTORS))
  const styles = useQuery(find(STYLES))
  const sources = useQuery(find(SCAN_SOURCES))
  const tokens = useQuery(find(TOKENS))
  const targets = useQuery(find(TARGETS))
  const jobs = useQuery(find(SLICE_JOBS))
  // "Nothing found" must wait until every list has responded.
  const searching =
    q !== typed.trim() ||
    [basemaps, vectors, styles, sources, tokens, targets, jobs].some(
      (query) => query.isPending || query.isPlaceholderData,
    )
  const found = useMemo(() => {
    if (q === '') return []
    const found = (code: string, to: string, label: string, note: string, icon: Icon): Found => {
      return { to, label, note, icon, code }
    }
    const all = [
      ...(tokens.data?.items ?? []).map(({ id, name, prefix }) =>
        found(prefix, `/tokens/${segment(id)}`, name, `${t.nav.tokens} · ${prefix}`, IconKey),
      ),
      ...(basemaps.data?.items ?? []).map(({ code, name }) => ({
        ...found(code, `/basemaps/${segment(code)}`, name, `${t.nav.basemaps} · ${code}`, IconStack2),
        actions: basemapActions(t, code, name),
      })),
      ...(vectors.data?.items ?? []).map(({ code, name, relative_path: path }) =>
        found(code, `/vectors/${segment(code)}`, name, `${t.nav.vectors} · ${code} · ${path}`, IconVector),
      ),
      ...(styles.data?.items ?? []).map(({ code, name }) =>
        found(code, `/styles/${segment(code)}`, name, `${t.nav.styles} · ${code}`, IconPalette),
      ),
      ...(sources.data?.items ?? []).map(({ code, name, path }) =>
        found(code, `/sources/${segment(code)}`, name, `${t.nav.sources} · ${path}`, IconFolderSearch),
      ),
      ...(targets.data?.items ?? []).map(({ code, name, url, path }) =>
        found(
          code,
          `/pushes/targets/${segment(code)}`,
          name,
          `${t.pushes.targets} · ${url ?? path}`,
          IconPlugConnected,
        ),
      ),
      ...(jobs.data?.items ?? []).map(({ id, name, target_code: layer }) =>
        found(id, `/slicing/jobs/${segment(id)}`, name || layer, `${t.slicing.jobs} · ${layer}`, IconLayoutGrid),
      ),
    ]
    const isExact = ({ code }: Found) => Number(code.toLowerCase() === q.toLowerCase())
    return all.sort((a, b) => isExact(b) - isExact(a))
  }, [q, basemaps.data, vectors.data, styles.data, sources.data, tokens.data, targets.data, jobs.data, t])
  return { found, searching: searching && typed.trim() !== '' }
}
