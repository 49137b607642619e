import type { Warning } from '@gateway/contracts/warning.js'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { useTexts } from '../texts/texts.js'
import { notifyWarning } from '../ui/notify.js'
import { type Call, send } from './client.js'
import { refresh } from './live.js'

interface WriteOptions<V, T> {
  /** first parts of the keys of queries that show the change */
  readonly changes?: readonly string[]
  /** rejects with the reason why the request is not sent */
  readonly before?: (variables: V) => Promise<void>
  /** true if it deletes the subject of the page, which the page then leaves: a new read would find nothing */
  readonly removes?: boolean
  /** These two are called even if the user leaves the page meanwhile. */
  readonly onSuccess?: (result: T, variables: V) => void
  readonly onError?: (error: Error, variables: V) => void
  /** time for which the result is kept after nothing shows it; default: 5 minutes */
  readonly gcTime?: number
}

/**
 * A change, given as the request that makes it. It is sent at once or fails at once: a mutation that waits for the network would
 * be sent when nobody looks any more. `cancel` aborts a request in progress. The same change is sent once, however often it is asked for
 * meanwhile: a button is not disabled before the page is drawn again.
 */
export function useWrite<V = void, T = unknown>(
  commandOf: (variables: V) => Call<T>,
  { changes = [], before, removes = false, onSuccess, onError, gcTime }: WriteOptions<V, T> = {},
) {
  const t = useTexts()
  const queries = useQueryClient()
  const running = useRef<AbortController | null>(null)
  const pending = useRef(new Set<string>())
  const keyOf = (variables: V) => JSON.stringify(commandOf(variables))
  const mutation = useMutation<T, Error, V>({
    networkMode: 'always',
    ...(gcTime !== undefined && { gcTime }),
    mutationFn: async (variables) => {
      const own = new AbortController()
      running.current = own
      try {
        await before?.(variables)
        own.signal.throwIfAborted()
        return await send(commandOf(variables), own.signal)
      } finally {
        pending.current.delete(keyOf(variables))
      }
    },
    onSuccess: async (result, variables) => {
      for (const warning of warningsIn(result)) notifyWarning(t.warnings[warning.code] ?? t.warnings.other, warning)
      onSuccess?.(result, variables)
      await refresh(queries, changes, removes ? 'none' : 'active')
    },
    onError: (error, variables) => {
      if (!running.current?.signal.aborted) onError?.(error, variables)
      // The change may have been made nevertheless.
      void refresh(queries, changes)
    },
  })
  const cancel = () => {
    running.current?.abort()
    mutation.reset()
  }
  /** False if the same change is on its way. */
  const begin = (key: string) => !pending.current.has(key) && pending.current.add(key)
  const mutate: typeof mutation.mutate = (...given) => {
    if (begin(keyOf(given[0] as V))) mutation.mutate(...given)
  }
  // The first call reports the outcome.
  const mutateAsync: typeof mutation.mutateAsync = (...given) =>
    begin(keyOf(given[0] as V)) ? mutation.mutateAsync(...given) : new Promise(() => {})
  return { ...mutation, mutate, mutateAsync, cancel, commandOf }
}

/** `warningsField` of the contracts. */
function warningsIn(result: unknown): readonly Warning[] {
  const { warnings = [] } = (result ?? {}) as { warnings?: unknown }
  // Elsewhere the field is the number of a scan's warnings.
  return Array.isArray(warnings) ? warnings : []
}

/** The state of a write that a confirmation dialog needs. */
export interface PendingWrite {
  readonly isPending: boolean
  readonly error: Error | null
  readonly cancel: () => void
}
