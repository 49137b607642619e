/** A place in the history: a path of the console with what belongs to it. */
export interface Place {
  /** without the base */
  readonly pathname: string
  /** with its `?` */
  readonly search: string
  /** with its `#` */
  readonly hash: string
  readonly state: unknown
  /** identifies the entry of the history; FIRST_KEY: the first page of a visit */
  readonly key: string
}

export const FIRST_KEY = 'default'

/** The history: a browser's, or one in memory for tests. Each entry has an index, so that a step back can be undone. */
export interface Places {
  current(): { readonly place: Place; readonly index: number }
  push(place: Place, index: number): void
  replace(place: Place, index: number): void
  /** Moves by a number of entries. Listeners are called once it has. */
  go(delta: number): void
  listen(moved: () => void): () => void
  /** Returns the URL of a path, for links. */
  href(to: string): string
}

export function placeOf(to: string, state: unknown = null, key: string = crypto.randomUUID()): Place {
  const { pathname, search, hash } = new URL(`http://console${to}`)
  return { pathname, search, hash, state, key }
}

export function pathOf({ pathname, search, hash }: Pick<Place, 'pathname' | 'search' | 'hash'>): string {
  return `${pathname}${search}${hash}`
}

interface Kept {
  readonly state?: unknown
  readonly key?: string
  readonly index?: number
}

/** The browser's history below a base path. */
export function browserPlaces(base: string): Places {
  const href = (to: string) => `${base}${to}`
  const kept = ({ state, key }: Place, index: number): Kept => ({ state, key, index })
  return {
    href,
    current() {
      const { pathname, search, hash } = window.location
      const path = pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : '/'
      const { state = null, key = FIRST_KEY, index = 0 } = (window.history.state ?? {}) as Kept
      return { place: { pathname: path, search, hash, state, key }, index }
    },
    push: (place, index) => window.history.pushState(kept(place, index), '', href(pathOf(place))),
    replace: (place, index) => window.history.replaceState(kept(place, index), '', href(pathOf(place))),
    go: (delta) => window.history.go(delta),
    listen(moved) {
      window.addEventListener('popstate', moved)
      return () => window.removeEventListener('popstate', moved)
    },
  }
}

/** A history in memory, at the last of its entries. */
export function memoryPlaces(entries: readonly string[] = ['/']): Places {
  const places = entries.map((to, i) => placeOf(to, null, i === entries.length - 1 ? FIRST_KEY : String(i)))
  let at = places.length - 1
  const listeners = new Set<() => void>()
  return {
    href: (to) => to,
    current: () => ({ place: places[at] as Place, index: at }),
    push(place) {
      places.splice(++at, places.length, place)
    },
    replace(place) {
      places[at] = place
    },
    go(delta) {
      if (places[at + delta] === undefined) return
      at += delta
      for (const moved of listeners) moved()
    },
    listen(moved) {
      listeners.add(moved)
      return () => listeners.delete(moved)
    },
  }
}
