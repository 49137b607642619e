import type { HealthCheck } from '@gateway/contracts/health.js'
import { useTexts } from '../../texts/texts.js'
import { Ago } from '../../ui/time.js'

/** When it was last looked whether everything is there, and what came of it; null: nobody has looked yet. */
export function LastCheck({ health }: { health: HealthCheck | null }) {
  const t = useTexts().overview
  if (health === null) return <>{t.neverChecked}</>
  return (
    <>
      {t.lastCheck} <Ago at={health.checked_at} />:{' '}
      {t.checkResult(health.versions_checked, health.versions_missing, health.vectors_checked, health.vectors_missing)}
    </>
  )
}
