import { Tooltip } from '@mantine/core'
import { useSyncExternalStore } from 'react'
import { useTexts } from '../texts/texts.js'
import { useFormats } from './use-formats.js'

const TICK_MS = 15_000

/** One clock for all times of a page. */
const clock = {
  now: Date.now(),
  listeners: new Set<() => void>(),
  timer: 0,
}

function subscribe(listener: () => void): () => void {
  clock.listeners.add(listener)
  if (clock.listeners.size === 1) {
    clock.now = Date.now()
    clock.timer = window.setInterval(() => {
      clock.now = Date.now()
      for (const one of clock.listeners) one()
    }, TICK_MS)
  }
  return () => {
    clock.listeners.delete(listener)
    if (clock.listeners.size === 0) window.clearInterval(clock.timer)
  }
}

export function useNow(): number {
  return useSyncExternalStore(subscribe, () => clock.now)
}

/** How long ago, with the moment itself in the viewer's zone on request. */
export function Ago({ at, fallback }: { at: string | null; fallback?: string }) {
  const t = useTexts()
  const formats = useFormats()
  const now = useNow()
  if (at === null) return <>{fallback ?? t.common.never}</>
  return (
    <Tooltip label={formats.dateTimeZone(at)} events={{ hover: true, focus: true, touch: true }}>
      <time dateTime={at}>{formats.ago(at, Math.max(now, Date.parse(at) <= Date.now() ? Date.parse(at) : now))}</time>
    </Tooltip>
  )
}

/** The moment itself, in the viewer's zone. */
export function Moment({ at }: { at: string }) {
  const formats = useFormats()
  return (
    <Tooltip label={formats.dateTimeZone(at)} events={{ hover: true, focus: true, touch: true }}>
      <time dateTime={at}>{formats.dateTime(at)}</time>
    </Tooltip>
  )
}
