import type { Warning } from '@gateway/contracts/warning.js'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { useTexts } from '../texts/texts.js'
import { notifyWarning } from '../ui/notify.js'
import { type Call, send } from './client.js'
import { refresh } from './live.js'

interface WriteOptions<V, T> {
  /** first parts of the keys of queries that show what was changed */
  readonly changes?: readonly string[]
  /** rejects with why it is not sent */
  readonly before?: (variables: V) => Promise<void>
  /** it deletes what the page shows, which is left: read again it would be missing */
  readonly removes?: boolean
  /** These two are called even where the page is left meanwhile. */
  readonly onSuccess?: (result: T, variables: V) => void
  readonly onError?: (error: Error, variables: V) => void
  /** how long the result is kept once nothing shows it; default: 5 minutes */
  readonly gcTime?: number
}

/**
 * A change to the service, told as the request that makes it. It is sent at once or fails at once: a mutation that waits for the line would
 * be sent when nobody looks any more. `cancel` aborts one that is under way.
 */
export function useWrite<V = void, T = unknown>(
  commandOf: (variables: V) => Call<T>,
  { changes = [], before, removes = false, onSuccess, onError, gcTime }: WriteOptions<V, T> = {},
) {
  const t = useTexts()
  const queries = useQueryClient()
  const running = useRef<AbortController | null>(null)
  const mutation = useMutation<T, Error, V>({
    networkMode: 'always',
    ...(gcTime !== undefined && { gcTime }),
    mutationFn: async (variables) => {
      const own = new AbortController()
      running.current = own
      await before?.(variables)
      own.signal.throwIfAborted()
      return send(commandOf(variables), own.signal)
    },
    onSuccess: async (result, variables) => {
      for (const warning of warningsIn(result)) notifyWarning(t.warnings[warning.code] ?? t.warnings.other, warning)
      onSuccess?.(result, variables)
      await refresh(queries, changes, removes ? 'none' : 'active')
    },
    onError: (error, variables) => {
      if (!running.current?.signal.aborted) onError?.(error, variables)
      // It may have been carried out all the same.
      void refresh(queries, changes)
    },
  })
  const cancel = () => {
    running.current?.abort()
    mutation.reset()
  }
  return { ...mutation, cancel, commandOf }
}

/** `warningsField` of the contracts. */
function warningsIn(result: unknown): readonly Warning[] {
  const { warnings = [] } = (result ?? {}) as { warnings?: unknown }
  // Elsewhere it is the number of those that a scan has.
  return Array.isArray(warnings) ? warnings : []
}

/** What a confirmation needs to know of a write. */
export interface PendingWrite {
  readonly isPending: boolean
  readonly error: Error | null
  readonly cancel: () => void
}
