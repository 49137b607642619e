import { IconCompassOff } from '@tabler/icons-react'
import { useRouteError } from 'react-router'
import { useTexts } from '../texts/texts.js'
import { Empty } from '../ui/empty.js'
import { ButtonLink } from '../ui/links.js'
import { Page } from '../ui/page.js'
import { Problem } from '../ui/problem.js'

/** Shown in place of a page that threw. */
export function PageFailed() {
  const t = useTexts()
  const error = useRouteError()
  return (
    <Page title={t.problem.pageTitle}>
      <Problem title={t.problem.pageTitle} error={error} onRetry={() => window.location.reload()} />
    </Page>
  )
}

export function PageMissing() {
  const t = useTexts()
  return (
    <Page title={t.problem.noPageTitle}>
      <Empty
        title={t.problem.noPageTitle}
        icon={<IconCompassOff size={30} aria-hidden />}
        action={<ButtonLink to="/">{t.nav.overview}</ButtonLink>}
      >
        {t.problem.noPage}
      </Empty>
    </Page>
  )
}
