import { QueryClient } from '@tanstack/react-query'
import { ApiError } from '../api/client.js'

/** Events invalidate changed data. This only limits the age of a page that is opened again. */
const FRESH_MS = 10_000
const MAX_RETRIES = 2

export function createQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        // Browsers know whether there is a network, but not whether the service is reachable: a query fails instead of waiting.
        networkMode: 'always',
        refetchOnReconnect: true,
        // Refusals are final. Other failures may pass.
        retry: (failures, error) => failures < MAX_RETRIES && (!(error instanceof ApiError) || error.mayPass),
      },
      mutations: { networkMode: 'always' },
    },
  })
}
