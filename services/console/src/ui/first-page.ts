import { useEffect, useState } from 'react'

/** Limit in ms, longer than the first page takes on a slow line. */
const DRAWN_WITHIN_MS = 10_000

let isDrawn = false
let drawn = () => {}
let parts = 0
const listeners = new Set<() => void>()

/** Resolves once the first page is drawn. Until then, nothing else is loaded. */
export const firstPageDrawn = new Promise<void>((resolve) => {
  drawn = () => {
    isDrawn = true
    resolve()
  }
})

/** Ends the wait for the first page: it is drawn, or the user does something. */
export function endFirstPage(): void {
  drawn()
}

/** Begins to wait for a part of the first page that takes longer than its texts, such as a map. Returns the function that ends this wait. */
export function beginPart(): () => void {
  let isOpen = true
  parts++
  return () => {
    if (!isOpen) return
    isOpen = false
    parts--
    for (const listener of listeners) listener()
  }
}

/** True if no part of the first page is awaited. */
export function hasAllParts(): boolean {
  return parts === 0
}

/** Calls `listener` whenever a part is complete, and limits the wait for the first page. Returns the function that ends both. */
export function watchParts(listener: () => void): () => void {
  listeners.add(listener)
  const timer = window.setTimeout(drawn, DRAWN_WITHIN_MS)
  return () => {
    listeners.delete(listener)
    window.clearTimeout(timer)
  }
}

/** True once the first page is drawn: for what lies below it, or is drawn later than the rest. */
export function useFirstPageDrawn(): boolean {
  const [is, set] = useState(isDrawn)
  useEffect(() => {
    if (!is) void firstPageDrawn.then(() => set(true))
  }, [is])
  return is
}
