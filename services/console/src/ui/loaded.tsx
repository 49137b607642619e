import { Skeleton, Stack } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
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
 * Shows the data of a query, a placeholder while it loads, or its error. Loaded data stays visible when a refresh fails, also if the object was deleted
 * meanwhile: a form in the page may have input.
 */
export function Loaded<T>({ query, what, children, missing }: LoadedProps<T>) {
  const t = useTexts()
  const isMissing = query.error instanceof ApiError && query.error.status === 404
  if (query.data !== undefined) {
    return (
      <>
        {isMissing && missing !== undefined && <Gone {...missing} />}
        {children(query.data)}
      </>
    )
  }
  if (isMissing) {
    if (missing !== undefined) return <Missing {...missing} />
    return <Empty title={t.problem.missingPart(what)}>{t.problem.missingPartAdvice}</Empty>
  }
  if (query.error !== null) {
    return <Problem title={t.problem.loading(what)} error={query.error} onRetry={() => void query.refetch()} />
  }
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
