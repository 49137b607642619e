import { ActionIcon, Alert, AppShell, Burger, Group, NavLink, Paper, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useEffect } from 'react'
import IconExternalLink from '~icons/external-link'
import IconHelp from '~icons/help'
import IconPlugConnectedX from '~icons/plug-connected-x'
import { useLive } from '../api/live.js'
import { type LiveState, useLiveState } from '../api/live-state.js'
import { Link, Outlet } from '../router/components.js'
import { useLocation, useRouterState } from '../router/hooks.js'
import { useScrollRestoration } from '../router/scroll.js'
import { useTexts } from '../texts/texts.js'
import { firstPageDrawn } from '../ui/first-page.js'
import { Hint } from '../ui/hint.js'
import { TextLink } from '../ui/links.js'
import { PageFailed } from './failures.js'
import { helpFor } from './help.js'
import { Account, Preferences, Search, SessionEnded, Shortcuts } from './later.js'
import { type NavigationEntry, navigation } from './navigation.js'
import { SearchButton } from './search-button.js'

/** The frame of every page. */
export function Shell() {
  const t = useTexts()
  const [opened, { toggle, close }] = useDisclosure()
  useLive(firstPageDrawn)
  const live = useLiveState()
  const { location, next } = useRouterState()
  const { pathname } = location
  useScrollRestoration()
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page closes the drawer
  useEffect(close, [pathname])
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 232, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={{ base: 'sm', sm: 'lg' }}
    >
      <a className="skip-link" href="#main">
        {t.skipToContent}
      </a>
      <AppShell.Header className="header">
        <Group h="100%" px="md" gap="sm" wrap="nowrap" justify="space-between">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={opened ? t.nav.close : t.nav.open}
              aria-expanded={opened}
            />
            <TextLink to="/" underline="never" className="brand">
              <Mark />
              <Text component="span" fw={650} c="var(--mantine-color-text)" truncate className="brand-name">
                {t.brand}
              </Text>
            </TextLink>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <SearchButton />
            <LiveMark state={live} />
            <ActionIcon
              component="a"
              href={helpFor(pathname, t.nav.documentationHome)}
              variant="subtle"
              size="lg"
              aria-label={t.nav.help}
              title={t.nav.help}
              visibleFrom="sm"
            >
              <IconHelp size={20} stroke={1.6} />
            </ActionIcon>
            <Preferences />
            <Account />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label={t.nav.main} className="navbar">
        <Menu />
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        <div className="page" aria-busy={next !== null}>
          <Outlet failed={PageFailed} />
        </div>
        {live === 'away' && (
          <Paper className="away" shadow="md">
            <Alert color="orange" icon={<IconPlugConnectedX />} role="status">
              {t.nav.away}
            </Alert>
          </Paper>
        )}
      </AppShell.Main>
      <Search />
      <Shortcuts />
      <SessionEnded />
    </AppShell>
  )
}

/** Shows whether the page is kept up to date. */
function LiveMark({ state }: { state: LiveState }) {
  const t = useTexts()
  return (
    <Hint label={t.nav.liveWords[state]}>
      <span role="status" className="live" data-state={state}>
        <span className="live-dot" aria-hidden />
        <span className="live-word">{t.nav.live[state]}</span>
      </span>
    </Hint>
  )
}

/** The logo of the console: a folded map. */
function Mark() {
  return (
    <svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true" className="mark">
      <rect width="32" height="32" rx="7" fill="var(--mantine-color-sea-7)" />
      <g fill="#fff">
        <path d="M7 9.5 13 7v15.5L7 25z" opacity=".95" />
        <path d="M13 7l6 2.5V25l-6-2.5z" opacity=".7" />
        <path d="M19 9.5 25 7v15.5L19 25z" opacity=".95" />
      </g>
    </svg>
  )
}

function Menu() {
  const t = useTexts()
  return (
    <AppShell.Section grow className="menu">
      {navigation(t).map(({ label, entries }) => (
        <div key={label} className="menu-group">
          <Text size="xs" fw={600} c="dimmed" px="sm" py={4} className="menu-label">
            {label}
          </Text>
          {entries.map((entry) => (
            <Entry key={entry.to} {...entry} />
          ))}
        </div>
      ))}
    </AppShell.Section>
  )
}

function Entry({ to, label, icon: Icon, outside }: NavigationEntry) {
  const { pathname } = useLocation()
  const active = !outside && (pathname === to || (to !== '/' && pathname.startsWith(`${to}/`)))
  const look = { label, leftSection: <Icon size={19} stroke={1.6} />, className: 'menu-entry' }
  if (outside) return <NavLink href={to} {...look} rightSection={<IconExternalLink size={14} />} />
  return <NavLink component={Link} to={to} active={active} aria-current={active ? 'page' : undefined} {...look} />
}
