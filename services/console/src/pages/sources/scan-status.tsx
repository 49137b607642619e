import type { Scan, ScanStatus as State } from '@gateway/contracts/scan-source.js'
import { useTexts } from '../../texts/texts.js'
import { Status, type Tone } from '../../ui/status.js'

const TONES: Record<State, Tone> = { running: 'busy', succeeded: 'good', failed: 'bad' }

export function ScanStatus({ scan }: { scan: Scan }) {
  return <Status tone={toneOf(scan)}>{useScanStatus()(scan)}</Status>
}

/** A scan with warnings is not a plain success, and a cancelled scan is not a failure. */
function toneOf({ status, warnings, cancelled }: Scan): Tone {
  if (cancelled) return 'off'
  return status === 'succeeded' && warnings > 0 ? 'warning' : TONES[status]
}

export function useScanStatus(): (scan: Scan) => string {
  const t = useTexts().sources
  return ({ status, warnings, steps, cancelled }) => {
    if (cancelled) return t.cancelled
    if (status === 'running' && steps > 0) return t.progress(steps)
    return warnings > 0 ? t.withWarnings(t.statuses[status], warnings) : t.statuses[status]
  }
}
