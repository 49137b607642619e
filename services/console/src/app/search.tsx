import { ActionIcon, Button, Kbd } from '@mantine/core'
import { Spotlight, type SpotlightActionData, spotlight } from '@mantine/spotlight'
import { IconFolderSearch, IconKey, IconSearch, IconStack2, IconVector, type TablerIcon } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useNavigate } from 'react-router'
import { basemapsQuery, vectorsQuery } from '../api/catalog.js'
import { segment } from '../api/client.js'
import { scanSourcesQuery } from '../api/scan-sources.js'
import { tokensQuery } from '../api/tokens.js'
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

const LISTED = 8

/** Finds everything that has an address by its name. Lists are loaded when the search is first opened. */
export function Search() {
  const t = useTexts()
  const [used, setUsed] = useState(false)
  const found = useFound(used)
  const go = useNavigate()
  const actions = useMemo((): SpotlightActionData[] => {
    const pages = navigation(t).flatMap(({ entries }) =>
      entries.map(({ to, label, icon: Icon, outside }) => ({
        id: `page ${to}`,
        label,
        leftSection: <Icon size={20} stroke={1.5} aria-hidden />,
        onClick: () => (outside ? window.location.assign(to) : go(to)),
      })),
    )
    const things = found.map(({ to, label, note, icon: Icon }) => ({
      id: to + label,
      label: shortText(label),
      description: note,
      leftSection: <Icon size={20} stroke={1.5} aria-hidden />,
      onClick: () => go(to),
    }))
    return [...pages, ...things]
  }, [t, found, go])
  return (
    <Spotlight
      actions={actions}
      onSpotlightOpen={() => setUsed(true)}
      limit={LISTED}
      scrollable
      maxHeight={440}
      shortcut={['mod + K', '/']}
      nothingFound={t.nav.searchNothing}
      searchProps={{
        leftSection: <IconSearch size={18} aria-hidden />,
        placeholder: t.nav.searchHint,
        'aria-label': t.nav.search,
      }}
      attributes={{ content: { 'aria-label': t.nav.search } }}
      overlayProps={{ backgroundOpacity: 0.45 }}
    />
  )
}

function useFound(enabled: boolean) {
  const t = useTexts().nav
  const basemaps = useQuery({ ...basemapsQuery, enabled }).data?.items
  const vectors = useQuery({ ...vectorsQuery, enabled }).data?.items
  const sources = useQuery({ ...scanSourcesQuery, enabled }).data?.items
  const tokens = useQuery({ ...tokensQuery, enabled }).data?.items
  return useMemo(() => {
    const found = (to: string, label: string, note: string, icon: TablerIcon) => ({ to, label, note, icon })
    return [
      ...(basemaps ?? []).map(({ code, name }) =>
        found(`/basemaps/${segment(code)}`, name, `${t.basemaps} · ${code}`, IconStack2),
      ),
      ...(vectors ?? []).map(({ code, name, relative_path: path }) =>
        found(`/vectors/${segment(code)}`, name, `${t.vectors} · ${code} · ${path}`, IconVector),
      ),
      ...(sources ?? []).map(({ code, name, path }) =>
        found(`/sources/${segment(code)}`, name, `${t.sources} · ${path}`, IconFolderSearch),
      ),
      ...(tokens ?? []).map(({ name, prefix }) =>
        found(`/tokens?q=${encodeURIComponent(prefix)}`, name, `${t.tokens} · ${prefix}`, IconKey),
      ),
    ]
  }, [basemaps, vectors, sources, tokens, t])
}
