import type { HealthCheck } from '@gateway/contracts/health.js'
import type { Texts } from '../../texts/en.js'
import { useTexts } from '../../texts/texts.js'
import { Ago } from '../../ui/time.js'

export function checkResult(t: Texts['overview'], health: HealthCheck): string {
  const { versions_checked: versions, versions_missing: lost, vectors_checked: vectors } = health
  return t.checkResult(versions, lost, vectors, health.vectors_missing)
}

/** Time and result of the last availability check; null: no check has run yet. */
export function LastCheck({ health }: { health: HealthCheck | null }) {
  const t = useTexts().overview
  if (health === null) return <>{t.neverChecked}</>
  return (
    <>
      {t.lastCheck} <Ago at={health.checked_at} />: {checkResult(t, health)}
    </>
  )
}
