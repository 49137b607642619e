import { QueryClient } from '@tanstack/react-query'
import { ApiError } from '../api/client.js'

/** Events tell what has changed; this only bounds how old a page may be that is opened again. */
const FRESH_MS = 10_000
const MAX_RETRIES = 2

export function createQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        // A refusal stays a refusal; what is down may come back.
        retry: (failures, error) => failures < MAX_RETRIES && (!(error instanceof ApiError) || error.mayPass),
      },
    },
  })
}
