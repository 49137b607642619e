import { AppShell, NavLink, ScrollArea, Text } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { NavLink as RouterLink, useMatch, useResolvedPath } from 'react-router'
import { useTexts } from '../texts/texts.js'
import { type NavigationEntry, navigation } from './navigation.js'

export function Menu() {
  const t = useTexts()
  return (
    <AppShell.Section grow component={ScrollArea} type="auto">
      {navigation(t).map(({ label, entries }) => (
        <div key={label} className="menu-group">
          <Text size="xs" fw={600} c="dimmed" px="sm" py={4} className="menu-label">
            {label}
          </Text>
          {entries.map((entry) =>
            entry.outside ? <Outside key={entry.to} {...entry} /> : <Inside key={entry.to} {...entry} />,
          )}
        </div>
      ))}
    </AppShell.Section>
  )
}

function Inside({ to, label, icon: Icon }: NavigationEntry) {
  const active = useMatch({ path: useResolvedPath(to).pathname, end: to === '/' }) !== null
  return (
    <NavLink
      component={RouterLink}
      to={to}
      label={label}
      active={active}
      aria-current={active ? 'page' : undefined}
      leftSection={<Icon size={19} stroke={1.6} aria-hidden />}
      className="menu-entry"
    />
  )
}

function Outside({ to, label, icon: Icon }: NavigationEntry) {
  return (
    <NavLink
      href={to}
      label={label}
      leftSection={<Icon size={19} stroke={1.6} aria-hidden />}
      rightSection={<IconExternalLink size={14} aria-hidden />}
      className="menu-entry"
    />
  )
}
