import type { DeliveryStatus } from '@gateway/contracts/push.js'
import { useTexts } from '../../texts/texts.js'
import { Status, type Tone } from '../../ui/status.js'

const TONES: Record<DeliveryStatus, Tone> = {
  pending: 'waiting',
  retrying: 'retrying',
  succeeded: 'good',
  failed: 'bad',
}

export function PushStatus({ status }: { status: DeliveryStatus }) {
  const t = useTexts()
  return <Status tone={TONES[status]}>{t.pushes.statuses[status]}</Status>
}
