import { createContext, use, useEffect, useMemo, useRef, useSyncExternalStore } from 'react'
import type { Params } from './match.js'
import type { Place } from './places.js'
import type { Blocked, Guard, NavigateOptions, Router, RouterState } from './router.js'

export const RouterContext = createContext<Router | null>(null)

export function useRouter(): Router {
  const router = use(RouterContext)
  if (router === null) throw new Error('there is no router above this component')
  return router
}

export function useRouterState(): RouterState {
  const router = useRouter()
  return useSyncExternalStore(router.subscribe, () => router.state)
}

export function useLocation(): Place {
  return useRouterState().location
}

export function useNavigate(): (to: string, options?: NavigateOptions) => void {
  return useRouter().navigate
}

const NONE: Params = {}

/** The values of the `:name` parts of the page's path. */
export function useParams(): Readonly<Record<string, string | undefined>> {
  const { page } = useRouterState()
  return page !== null && 'params' in page ? page.params : NONE
}

export function useSearchParams(): URLSearchParams {
  const { search } = useLocation()
  return useMemo(() => new URLSearchParams(search), [search])
}

/** Holds back moves to other pages while the guard says so. Returns the move that waits for an answer; null: none. */
export function useGuard(guard: Guard): Blocked | null {
  const router = useRouter()
  const latest = useRef(guard)
  latest.current = guard
  useEffect(() => router.block((...move) => latest.current(...move)), [router])
  return useRouterState().blocked
}
