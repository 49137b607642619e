import {
  IconAlertTriangle,
  IconBan,
  IconCheck,
  IconClock,
  IconLoader2,
  IconRefresh,
  IconX,
  type TablerIcon,
} from '@tabler/icons-react'

export type Tone = 'good' | 'bad' | 'busy' | 'waiting' | 'retrying' | 'off' | 'warning'

const ICONS: Record<Tone, TablerIcon> = {
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
      <Icon size={14} aria-hidden className={tone === 'busy' ? 'spin' : ''} />
      {children}
    </span>
  )
}
