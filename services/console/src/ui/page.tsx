import { Breadcrumbs, Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { useLocation } from '../router/hooks.js'
import { useTexts } from '../texts/texts.js'
import { NameLink } from './name.js'
import { shortText, shownText } from './shown-text.js'

interface PageProps {
  readonly title: string
  readonly lead?: ReactNode
  readonly actions?: ReactNode
  /** parent pages, outermost first */
  readonly above?: readonly { readonly label: string; readonly to: string }[]
  readonly children: ReactNode
}

/** A page with its heading. After a change of page the heading gets the focus, so that keyboard and screen reader begin there. */
export function Page({ title, lead, actions, above, children }: PageProps) {
  const t = useTexts()
  const heading = useRef<HTMLHeadingElement>(null)
  const { pathname, key } = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new URL moves the focus
  useEffect(() => {
    // The first page of a visit leaves the focus to the browser.
    if (key !== 'default') heading.current?.focus({ preventScroll: true })
  }, [pathname])
  useEffect(() => {
    document.title = `${shortText(title)} · ${t.brand}`
  }, [title, t])
  return (
    <Stack gap="lg">
      <Stack gap={6}>
        {above && (
          <Breadcrumbs component="nav" aria-label={t.nav.breadcrumbs}>
            {above.map(({ label, to }) => (
              <NameLink key={to} to={to} size="sm" name={label} />
            ))}
          </Breadcrumbs>
        )}
        <Group justify="space-between" align="flex-start" gap="sm">
          <div className="page-heading">
            <Title order={1} ref={heading} tabIndex={-1} className="page-title">
              <bdi className="title-text">{shownText(title)}</bdi>
            </Title>
            {lead && (
              <Text c="dimmed" component="div" maw={680}>
                {lead}
              </Text>
            )}
          </div>
          {actions && <Group gap="xs">{actions}</Group>}
        </Group>
      </Stack>
      {children}
    </Stack>
  )
}
