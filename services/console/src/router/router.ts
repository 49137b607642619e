import type { ComponentType } from 'react'
import { matchPath, type Params } from './match.js'
import { type Place, type Places, placeOf } from './places.js'

/** A page by the pattern of its path; the first route that matches is taken. The code of some is loaded when they are opened. */
export type Route = { readonly path: string } & (
  | { readonly Component: ComponentType }
  | { readonly load: () => Promise<ComponentType> }
)

export type Move = 'push' | 'replace' | 'pop'

/** Returns true if the current page must not be left without a question. */
export type Guard = (from: Place, to: Place, move: Move) => boolean

export interface Blocked {
  proceed(): void
  stay(): void
}

export interface RouterState {
  readonly location: Place
  /** a page whose code is being loaded; null: none */
  readonly next: Place | null
  /** null until the code of the first page has arrived */
  readonly page: { readonly Component: ComponentType; readonly params: Params } | { readonly error: unknown } | null
  readonly blocked: Blocked | null
  /** true if the move keeps the scroll position */
  readonly keepsScroll: boolean
}

export interface NavigateOptions {
  readonly replace?: boolean
  readonly state?: unknown
  readonly keepsScroll?: boolean
}

/** The options of a navigation that discards nothing, because the form of the page was saved. */
export const SAVED = { state: { saved: true } } as const

/** Follows the history: which page is shown, which one is being loaded, and whether a form holds back. A page stays until the next one is loaded. */
export class Router {
  readonly places: Places
  readonly #routes: readonly Route[]
  readonly #loaded = new Map<Route, ComponentType>()
  readonly #listeners = new Set<() => void>()
  #state: RouterState
  #index: number
  /** The number of the last move: an earlier one that still loads is given up. */
  #move = 0
  #guard: Guard | null = null
  /** Moves through the history that this router itself causes. */
  #expected: 'undo' | 'confirmed' | null = null

  constructor(routes: readonly Route[], places: Places) {
    this.#routes = routes
    this.places = places
    const { place, index } = places.current()
    this.#index = index
    this.#state = { location: place, next: null, page: null, blocked: null, keepsScroll: false }
    // The index distinguishes later entries from the first one.
    places.replace(place, index)
    places.listen(() => this.#moved())
    this.#open(place, () => {})
  }

  get state(): RouterState {
    return this.#state
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Opens a path, or moves through the history. */
  readonly navigate = (to: string | number, { replace = false, state = null, keepsScroll }: NavigateOptions = {}) => {
    if (typeof to === 'number') return this.places.go(to)
    const place = placeOf(to, state)
    const open = () =>
      this.#open(
        place,
        () => {
          if (replace) this.places.replace(place, this.#index)
          else this.places.push(place, ++this.#index)
        },
        keepsScroll,
      )
    if (!this.#isHeld(place, replace ? 'replace' : 'push', open)) open()
  }

  /** Asks a guard before each move, until the returned function is called. */
  block(guard: Guard): () => void {
    this.#guard = guard
    return () => {
      if (this.#guard === guard) this.#guard = null
      if (this.#state.blocked !== null) this.#set({ blocked: null })
    }
  }

  #isHeld(to: Place, move: Move, proceed: () => void): boolean {
    if (this.#guard?.(this.#state.location, to, move) !== true) return false
    const leave = (then: () => void) => () => {
      this.#set({ blocked: null })
      then()
    }
    this.#set({ blocked: { proceed: leave(proceed), stay: leave(() => {}) } })
    return true
  }

  /** After a step through the history, which has changed the address already. */
  #moved(): void {
    const { place, index } = this.places.current()
    const delta = index - this.#index
    const expected = this.#expected
    this.#expected = null
    if (expected === 'undo') return
    const again = () => {
      this.#expected = 'confirmed'
      this.places.go(delta)
    }
    if (expected === null && this.#isHeld(place, 'pop', again)) {
      this.#expected = 'undo'
      this.places.go(-delta)
      return
    }
    this.#open(place, () => {
      this.#index = index
    })
  }

  async #open(place: Place, commit: () => void, keepsScroll = false): Promise<void> {
    const move = ++this.#move
    const [route, params] = this.#match(place.pathname)
    const done = (page: RouterState['page']) => {
      commit()
      this.#set({ location: place, next: null, page, keepsScroll })
    }
    const known = 'Component' in route ? route.Component : this.#loaded.get(route)
    if (known !== undefined) return done({ Component: known, params })
    this.#set({ next: place })
    try {
      const Component = await (route as Extract<Route, { load: unknown }>).load()
      this.#loaded.set(route, Component)
      if (move === this.#move) done({ Component, params })
    } catch (error) {
      if (move === this.#move) done({ error })
    }
  }

  #match(pathname: string): readonly [Route, Params] {
    for (const route of this.#routes) {
      const params = matchPath(route.path, pathname)
      if (params !== null) return [route, params]
    }
    throw new Error(`no route matches ${pathname}`)
  }

  #set(changed: Partial<RouterState>): void {
    this.#state = { ...this.#state, ...changed }
    for (const listener of this.#listeners) listener()
  }
}
