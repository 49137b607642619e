import type { LiveTopic } from '@gateway/contracts/console.js'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'

export type LiveState = 'connecting' | 'live' | 'away'

/** What a change in a topic may show in; by the first part of the query keys. */
const SHOWN_IN: Readonly<Record<LiveTopic, readonly string[]>> = {
  catalog: ['basemaps', 'vectors', 'tokens', 'dashboard'],
  scans: ['scan-sources', 'dashboard'],
  deliveries: ['pushes', 'dashboard', 'slicing'],
  slicing: ['slicing', 'dashboard'],
  edges: ['edges'],
  traffic: ['traffic'],
  audit: ['audit', 'dashboard', 'tokens', 'scan-sources', 'targets', 'pushes', 'slicing'],
}

/** What a scan or an availability check may change. */
export const FOUND_BY_LOOKING = ['basemaps', 'vectors', 'scan-sources', 'dashboard']

const ALL_LIVE = Object.values(SHOWN_IN).flat()

/** Has what is shown under these names read anew, each once. */
export function refresh(queries: QueryClient, names: readonly string[]): void {
  for (const name of new Set(names)) void queries.invalidateQueries({ queryKey: [name] })
}

/** A stream that the server refused outright is asked for again after this time; other breaks the browser mends by itself. */
const ASK_AGAIN_MS = 5_000

/** Browsers open six connections to one server over all tabs: a page that nobody sees soon gives its stream back. */
const HIDDEN_FOR_MS = 30_000

/** Keeps every query of the page in step with the server; tells how the connection stands. */
export function useLive(): LiveState {
  const queries = useQueryClient()
  const [state, setState] = useState<LiveState>('connecting')
  useEffect(() => follow(queries, setState), [queries])
  return state
}

function follow(queries: QueryClient, tell: (state: LiveState) => void): () => void {
  let source: EventSource | null = null
  let timer: number | undefined
  let opened = 0

  const connect = () => {
    window.clearTimeout(timer)
    source?.close()
    tell('connecting')
    source = new EventSource('/api/v1/admin/dashboard/live')
    source.addEventListener('watching', () => {
      tell('live')
      // What happened while the stream was away is not told again.
      if (opened++ > 0) refresh(queries, ALL_LIVE)
    })
    source.addEventListener('touched', (event) => {
      refresh(
        queries,
        (JSON.parse(event.data) as LiveTopic[]).flatMap((topic) => SHOWN_IN[topic] ?? []),
      )
    })
    source.addEventListener('error', () => {
      tell('away')
      if (source?.readyState === EventSource.CLOSED) timer = window.setTimeout(connect, ASK_AGAIN_MS)
    })
  }
  const onVisibility = () => {
    window.clearTimeout(timer)
    if (document.hidden) timer = window.setTimeout(() => source?.close(), HIDDEN_FOR_MS)
    else if (source?.readyState !== EventSource.OPEN) connect()
  }
  document.addEventListener('visibilitychange', onVisibility)
  connect()
  return () => {
    document.removeEventListener('visibilitychange', onVisibility)
    window.clearTimeout(timer)
    source?.close()
  }
}
