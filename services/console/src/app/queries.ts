import { QueryClient } from '@tanstack/react-query'
import { ApiError } from '../api/client.js'

/** Events invalidate what has changed; this only bounds the age of a page that is opened again. */
const FRESH_MS = 10_000
const MAX_RETRIES = 2

export function createQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        // Browsers know whether there is a network, not whether the service can be reached: a query fails instead of waiting for one.
        networkMode: 'always',
        refetchOnReconnect: true,
        // A refusal stays a refusal; what is down may come back.
        retry: (failures, error) => failures < MAX_RETRIES && (!(error instanceof ApiError) || error.mayPass),
      },
      mutations: { networkMode: 'always' },
    },
  })
}
