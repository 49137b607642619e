import type { QueryClient } from '@tanstack/react-query'
import { type ComponentType, lazy, Suspense } from 'react'

type Extras = typeof import('./extras.js')

let begin = () => {}
const begun = new Promise<void>((resolve) => {
  begin = resolve
})

/** Time in ms for painting the first page, before anything else is requested. */
const PAINTED_MS = 500
/** Limit in ms, longer than the first page takes on a slow line. */
const BEGIN_WITHIN_MS = 10_000

/** Resolves once the first page is drawn. */
export const firstPageDrawn: Promise<void> = begun

/** Loads the elements around a page once the first page shows its data, or when the user does something. */
export function afterFirstPage(queries: QueryClient): Promise<void> {
  const cache = queries.getQueryCache()
  const unsubscribe = cache.subscribe(() => {
    const shown = cache.getAll().some(({ queryKey: [name], state }) => name !== 'session' && state.status !== 'pending')
    if (shown && queries.isFetching() === 0) beginOnceDrawn()
  })
  const timer = window.setTimeout(begin, BEGIN_WITHIN_MS)
  for (const event of ['pointerdown', 'keydown']) window.addEventListener(event, begin, { once: true, capture: true })
  return begun.then(() => {
    unsubscribe()
    window.clearTimeout(timer)
  })
}

/** Waits until the page is drawn, because data that came with it can be present earlier. */
function beginOnceDrawn(): void {
  requestAnimationFrame(() => {
    if (document.querySelector('h1') === null) beginOnceDrawn()
    else window.setTimeout(begin, PAINTED_MS)
  })
}

function later<P extends object>(choose: (extras: Extras) => ComponentType<P>) {
  const Loaded: ComponentType<object> = lazy(async () => {
    await begun
    // The page works without them, and its next load gets them.
    return { default: (await import('./extras.js').then(choose, () => () => null)) as ComponentType<object> }
  })
  return function Later(props: P) {
    return (
      <Suspense fallback={null}>
        <Loaded {...props} />
      </Suspense>
    )
  }
}

export const Account = later((extras) => extras.Account)
export const Notifications = later((extras) => extras.Notifications)
export const Preferences = later((extras) => extras.Preferences)
export const Search = later((extras) => extras.Search)
export const Shortcuts = later((extras) => extras.Shortcuts)
export const SessionEnded = later((extras) => extras.SessionEnded)
