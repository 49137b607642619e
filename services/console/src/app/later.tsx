import type { QueryClient } from '@tanstack/react-query'
import { type ComponentType, lazy, Suspense } from 'react'
import { endFirstPage, firstPageDrawn, hasAllParts, watchParts } from '../ui/first-page.js'

type Extras = typeof import('./extras.js')

/** Time in ms for painting the first page, before anything else is requested. */
const PAINTED_MS = 500

/** Loads the elements around a page once the first page shows its data and its map, or when the user does something. */
export function afterFirstPage(queries: QueryClient): Promise<void> {
  const isComplete = () => queries.isFetching() === 0 && hasAllParts()
  const look = () => isComplete() && endOnceDrawn(isComplete)
  const unsubscribe = queries.getQueryCache().subscribe(look)
  const unwatch = watchParts(look)
  // A page without data, such as a form, changes neither.
  look()
  for (const event of ['pointerdown', 'keydown'])
    window.addEventListener(event, endFirstPage, { once: true, capture: true })
  return firstPageDrawn.then(() => {
    unsubscribe()
    unwatch()
  })
}

/** Waits until the page is drawn, because data that came with it can be present earlier. */
function endOnceDrawn(isComplete: () => boolean): void {
  requestAnimationFrame(() => {
    if (document.querySelector('h1') === null) endOnceDrawn(isComplete)
    else window.setTimeout(() => isComplete() && endFirstPage(), PAINTED_MS)
  })
}

function later<P extends object>(choose: (extras: Extras) => ComponentType<P>) {
  const Loaded: ComponentType<object> = lazy(async () => {
    await firstPageDrawn
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
