import { Skeleton, Stack } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useRef } from 'react'
import { ApiError } from '../api/client.js'
import { useTexts } from '../texts/texts.js'
import { Empty } from './empty.js'
import { Gone, Missing, type MissingProps } from './missing.js'
import { Problem } from './problem.js'

interface LoadedProps<T> {
  readonly query: UseQueryResult<T>
  /** the content that is loaded, for the message of a failure */
  readonly what: string
  readonly children: (data: T) => ReactNode
  /** title and back link of the page that is shown if the service does not have the object */
  readonly missing?: MissingProps
}

/**
 * Shows the data of a query, a placeholder while it loads, or its error, which stays until another attempt succeeds. Loaded data stays visible when a
 * refresh fails, also if the object was deleted meanwhile: a form in the page may have input.
 */
export function Loaded<T>({ query, what, children, missing }: LoadedProps<T>) {
  const t = useTexts()
  const last = useRef<unknown>(null)
  if (query.error !== null) last.current = query.error
  // A query without data forgets its error when it is tried again.
  const error = query.isPending && query.errorUpdateCount > 0 ? last.current : query.error
  const status = error instanceof ApiError ? error.status : null
  const failed = error !== null && (
    <Problem
      title={t.problem.loading(what)}
      error={error}
      onRetry={() => void query.refetch()}
      busy={query.isFetching}
    />
  )
  if (query.data !== undefined) {
    return (
      <>
        {status === 404 && missing !== undefined && <Gone {...missing} />}
        {/* The page itself says that the service does not respond, or that the session has ended. */}
        {status !== 404 && status !== 401 && status !== 0 && failed}
        {children(query.data)}
      </>
    )
  }
  if (status === 404) {
    if (missing !== undefined) return <Missing {...missing} />
    return <Empty title={t.problem.missingPart(what)}>{t.problem.missingPartAdvice}</Empty>
  }
  if (failed) return failed
  return (
    <div role="status" aria-label={t.common.loading(what)}>
      <Stack gap="sm">
        <Skeleton h={36} />
        <Skeleton h={36} />
        <Skeleton h={36} />
      </Stack>
    </div>
  )
}
