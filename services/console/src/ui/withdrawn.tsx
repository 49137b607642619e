import { useTexts } from '../texts/texts.js'
import { Status } from './status.js'

interface Withdrawable {
  readonly withdrawn: boolean
  readonly source_enabled?: boolean
}

/** True if readers can get it; a preview requests it like a reader. */
export function isServed({ withdrawn, source_enabled: sourceEnabled = true }: Withdrawable): boolean {
  return !withdrawn && sourceEnabled
}

/** That readers do not get it, and why. Nothing where they do. */
export function WithdrawnMark({ of }: { of: Withdrawable }) {
  const t = useTexts()
  if (of.withdrawn) return <Status tone="off">{t.withdraw.withdrawn}</Status>
  return of.source_enabled === false ? <Status tone="off">{t.withdraw.sourceDisabled}</Status> : null
}
