import { useEffect } from 'react'
import IconCompassOff from '~icons/compass-off'
import { ApiError } from '../api/client.js'
import { isReachable } from '../api/live.js'
import { useLiveState } from '../api/live-state.js'
import { useTexts } from '../texts/texts.js'
import { Empty } from '../ui/empty.js'
import { ButtonLink } from '../ui/links.js'
import { Page } from '../ui/page.js'
import { Problem } from '../ui/problem.js'
import { isMissingChunk, reloadOnce } from './outdated.js'

/** Replaces a page that threw, or whose code could not be loaded. The latter recovers when the service responds. */
export function PageFailed({ error }: { error: unknown }) {
  const t = useTexts()
  const live = useLiveState() === 'live'
  const missing = isMissingChunk(error)
  useEffect(() => {
    if (missing && live) void reloadOnce()
  }, [missing, live])
  const shown = missing ? new ApiError(0, (error as Error).message) : error
  const retry = async () => {
    if (await isReachable()) window.location.reload()
  }
  return (
    <Page title={t.problem.pageTitle}>
      <Problem title={missing ? t.problem.notLoaded : t.problem.pageTitle} error={shown} onRetry={() => void retry()} />
    </Page>
  )
}

export function PageMissing() {
  const t = useTexts()
  return (
    <Page title={t.problem.noPageTitle}>
      <Empty
        title={t.problem.noPageTitle}
        icon={IconCompassOff}
        action={<ButtonLink to="/">{t.nav.overview}</ButtonLink>}
      >
        {t.problem.noPage}
      </Empty>
    </Page>
  )
}
