import { AppShell, NavLink, Text } from '@mantine/core'
import IconExternalLink from '~icons/external-link'
import { Link } from '../router/components.js'
import { useLocation } from '../router/hooks.js'
import { useTexts } from '../texts/texts.js'
import { type NavigationEntry, navigation } from './navigation.js'

export function Menu() {
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
