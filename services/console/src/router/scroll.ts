import { useEffect, useLayoutEffect } from 'react'
import { useRouter, useRouterState } from './hooks.js'
import { FIRST_KEY, type Place } from './places.js'

const STORED_AS = 'console.scrolled'
/** Limit: entries of the history whose position is kept. */
const MOST = 200

/** Pixels by the key of the entry. */
const positions = readPositions()

/** Begins a new page at its top, or at its anchor, and goes back to where an earlier one was left. */
export function useScrollRestoration(): void {
  const router = useRouter()
  const { location, keepsScroll } = useRouterState()
  useEffect(() => {
    window.history.scrollRestoration = 'manual'
    // The position is stored before the page is replaced by another one, which may be shorter.
    let shown = router.state.location
    const leave = () => {
      positions.set(shown.key, window.scrollY)
      shown = router.state.location
    }
    const unsubscribe = router.subscribe(() => shown !== router.state.location && leave())
    const close = () => {
      leave()
      sessionStorage.setItem(STORED_AS, JSON.stringify([...positions].slice(-MOST)))
    }
    window.addEventListener('pagehide', close)
    return () => {
      unsubscribe()
      window.removeEventListener('pagehide', close)
    }
  }, [router])
  useLayoutEffect(() => {
    const kept = positions.get(location.key)
    if (kept !== undefined) window.scrollTo(0, kept)
    else if (!keepsScroll) scrollToStart(location)
  }, [location, keepsScroll])
}

function scrollToStart({ hash }: Place): void {
  const anchor = hash === '' ? null : document.getElementById(decodeURIComponent(hash.slice(1)))
  if (anchor === null) window.scrollTo(0, 0)
  else anchor.scrollIntoView()
}

function readPositions(): Map<string, number> {
  try {
    const kept = JSON.parse(sessionStorage.getItem(STORED_AS) ?? '[]') as [string, number][]
    // The first page of every visit has this key.
    return new Map(kept.filter(([key]) => key !== FIRST_KEY))
  } catch {
    return new Map()
  }
}
