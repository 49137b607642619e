import { useSyncExternalStore } from 'react'
import { useTexts } from '../texts/texts.js'
import { Hint } from './hint.js'
import { useFormats } from './use-formats.js'

const TICK_MS = 15_000
const clock = { now: Date.now(), listeners: new Set<() => void>(), timer: 0 }

/** One clock for all times of a page. */
function subscribe(listener: () => void): () => void {
  if (clock.listeners.size === 0) {
    clock.now = Date.now()
    clock.timer = window.setInterval(() => {
      clock.now = Date.now()
      for (const one of clock.listeners) one()
    }, TICK_MS)
  }
  clock.listeners.add(listener)
  return () => {
    clock.listeners.delete(listener)
    if (clock.listeners.size === 0) window.clearInterval(clock.timer)
  }
}

export function useNow(): number {
  return useSyncExternalStore(subscribe, () => clock.now)
}

function Stamp({ at, children }: { at: string; children: string }) {
  const formats = useFormats()
  return (
    <Hint label={formats.dateTimeZone(at)}>
      <time dateTime={at}>{children}</time>
    </Hint>
  )
}

/** Shows how long ago a time was, with the exact time in the user's zone on demand. */
export function Ago({ at, fallback }: { at: string | null; fallback?: string }) {
  const t = useTexts()
  const formats = useFormats()
  const now = useNow()
  if (at === null) return <>{fallback ?? t.common.never}</>
  // The clock ticks rarely, so a time since its last tick must not count as the future.
  const since = Date.parse(at) <= Date.now() ? Math.max(now, Date.parse(at)) : now
  return <Stamp at={at}>{formats.ago(at, since)}</Stamp>
}

/** Shows an exact time in the user's zone. */
export function Moment({ at }: { at: string }) {
  return <Stamp at={at}>{useFormats().dateTime(at)}</Stamp>
}
