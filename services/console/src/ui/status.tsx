import IconAlertTriangle from '~icons/alert-triangle'
import IconBan from '~icons/ban'
import IconCheck from '~icons/check'
import IconClock from '~icons/clock'
import IconLoader2 from '~icons/loader-2'
import IconRefresh from '~icons/refresh'
import IconX from '~icons/x'
import type { Icon } from './icon.js'

export type Tone = 'good' | 'bad' | 'busy' | 'waiting' | 'retrying' | 'off' | 'warning'

const ICONS: Record<Tone, Icon> = {
  good: IconCheck,
  bad: IconX,
  busy: IconLoader2,
  waiting: IconClock,
  retrying: IconRefresh,
  off: IconBan,
  warning: IconAlertTriangle,
}

/** A state with a colour, an icon and words, since some people do not see colours. */
export function Status({ tone, children }: { tone: Tone; children: string }) {
  const Icon = ICONS[tone]
  return (
    <span className="status" data-tone={tone}>
      <Icon size={14} className={tone === 'busy' ? 'spin' : ''} />
      {children}
    </span>
  )
}
