import type { Scan, ScanStatus as State } from '@gateway/contracts/scan-source.js'
import { useTexts } from '../../texts/texts.js'
import { Status, type Tone } from '../../ui/status.js'

const TONES: Record<State, Tone> = { running: 'busy', succeeded: 'good', failed: 'bad' }

export function ScanStatus({ scan }: { scan: Scan }) {
  const t = useTexts()
  return <Status tone={TONES[scan.status]}>{t.sources.statuses[scan.status]}</Status>
}
