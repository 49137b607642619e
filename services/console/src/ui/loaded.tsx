import { Skeleton, Stack } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiError } from '../api/client.js'
import { useTexts } from '../texts/texts.js'
import { Empty } from './empty.js'
import { Missing, type MissingProps } from './missing.js'
import { Problem } from './problem.js'

interface LoadedProps<T> {
  readonly query: UseQueryResult<T>
  /** what is being loaded, for the words of a failure */
  readonly what: string
  readonly children: (data: T) => ReactNode
  /** title of the page that is shown where the service has no such thing, and where to look instead */
  readonly missing?: MissingProps
}

/** The data of a query, a shape of it while it is loaded, or why it failed. Data that is there stays when a renewal fails. */
export function Loaded<T>({ query, what, children, missing }: LoadedProps<T>) {
  const t = useTexts()
  if (query.data !== undefined) return <>{children(query.data)}</>
  if (query.error instanceof ApiError && query.error.status === 404) {
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
