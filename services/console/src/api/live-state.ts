import { useSyncExternalStore } from 'react'

/** `away`: the service does not respond. `connecting`: it responds, but does not yet send events. */
export type LiveState = 'connecting' | 'live' | 'away'

let current: LiveState = 'connecting'
const listeners = new Set<() => void>()

export function setLiveState(state: LiveState): void {
  if (state === current) return
  current = state
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useLiveState(): LiveState {
  return useSyncExternalStore(subscribe, () => current)
}
