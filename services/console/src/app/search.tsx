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

/** What has been found so far is enough to go on from. */
const LISTED = 8

/** Everything that has an address, to be found by its name. What is searched in is loaded when the search is first opened. */
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
      label,
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

interface Found {
  readonly to: string
  readonly label: string
  readonly note: string
  readonly icon: TablerIcon
}

function useFound(enabled: boolean): readonly Found[] {
  const t = useTexts()
  const basemaps = useQuery({ ...basemapsQuery, enabled })
  const vectors = useQuery({ ...vectorsQuery, enabled })
  const sources = useQuery({ ...scanSourcesQuery, enabled })
  const tokens = useQuery({ ...tokensQuery, enabled })
  return useMemo(
    () => [
      ...(basemaps.data?.items ?? []).map(({ code, name }) => ({
        to: `/basemaps/${segment(code)}`,
        label: name,
        note: `${t.nav.basemaps} · ${code}`,
        icon: IconStack2,
      })),
      ...(vectors.data?.items ?? []).map(({ code, name, relative_path }) => ({
        to: `/vectors/${segment(code)}`,
        label: name,
        note: `${t.nav.vectors} · ${code} · ${relative_path}`,
        icon: IconVector,
      })),
      ...(sources.data?.items ?? []).map(({ code, name, path }) => ({
        to: `/sources/${segment(code)}`,
        label: name,
        note: `${t.nav.sources} · ${path}`,
        icon: IconFolderSearch,
      })),
      ...(tokens.data?.items ?? []).map(({ name, prefix }) => ({
        to: `/tokens?q=${encodeURIComponent(prefix)}`,
        label: name,
        note: `${t.nav.tokens} · ${prefix}`,
        icon: IconKey,
      })),
    ],
    [basemaps.data, vectors.data, sources.data, tokens.data, t],
  )
}
