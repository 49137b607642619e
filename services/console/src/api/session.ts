import type { Role, Session } from '@gateway/contracts/operator.js'
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { call, onUnauthorized, reads } from './client.js'
import { useWrite } from './use-write.js'

const readSession = reads('/api/v1/admin/session')

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: readSession,
})

/** True if the user signed in at the sign-in page, and so can sign out and in again. */
export const isSignedIn = (session: Session | undefined): session is Session =>
  session?.by === 'oidc' || session?.by === 'password'

const ROLES: readonly Role[] = ['viewer', 'operator', 'admin']

/** True if the user's role allows `role`. While the role is unknown everything is offered, since the server decides. */
export function useAllowed(role: Role): boolean {
  const own = useQuery(sessionQuery).data?.role
  return own === undefined || ROLES.indexOf(own) >= ROLES.indexOf(role)
}

export function useSignOut() {
  return useWrite(() => call('delete', '/api/v1/admin/session'), {
    onSuccess: () => window.location.assign('/admin/sign-in?ended'),
  })
}

let ended = false
const listeners = new Set<() => void>()

function setEnded(value: boolean): void {
  if (ended === value) return
  ended = value
  for (const listener of listeners) listener()
}

// The first refusal may come before the dialog is loaded that tells it.
onUnauthorized(() => setEnded(true))

/** Interval of checks after the session has ended: it may begin again in another window. */
const LOOK_EVERY_MS = 1_500

/** True if the session has ended. Everything is read again once there is a new one. */
export function useSessionEnded(): boolean {
  const queries = useQueryClient()
  const isEnded = useSyncExternalStore(subscribe, () => ended)
  useEffect(() => {
    if (!isEnded) return
    const timer = window.setInterval(async () => {
      const session = await readSession().catch(() => null)
      if (session === null) return
      queries.setQueryData(sessionQuery.queryKey, session)
      setEnded(false)
      void queries.invalidateQueries()
    }, LOOK_EVERY_MS)
    return () => window.clearInterval(timer)
  }, [isEnded, queries])
  return isEnded
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
