import { Alert, Button, Code, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { ApiError } from '../api/client.js'
import type { Texts } from '../texts/en.js'
import { useTexts } from '../texts/texts.js'
import { ErrorText } from './server-text.js'

/** What an operator can do about an error. */
function advice(t: Texts, error: unknown): string {
  if (!(error instanceof ApiError)) return t.problem.unexpected
  const { status, timedOut, code } = error
  if (timedOut) return t.problem.timedOut
  if (status === 0) return t.problem.unreachable
  // An older edge hands on no code; a newer service has more of them.
  const own = code === null ? undefined : t.problem.codes[code]
  if (own !== undefined) return own
  if (status === 401) return t.problem.signIn
  if (status === 403) return t.problem.forbidden
  if (status === 404) return t.problem.notFound
  if (status === 409) return t.problem.conflict
  if (status === 429) return t.problem.tooMany
  if (status === 503) return t.problem.down
  return status >= 500 ? t.problem.server : t.problem.invalid
}

export interface ProblemProps {
  /** what failed */
  readonly title: string
  readonly error: unknown
  readonly onRetry?: (() => void) | undefined
}

/** What happened, in the server's words, and what to do. */
export function Problem({ title, error, onRetry }: ProblemProps) {
  const t = useTexts()
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle aria-hidden />} title={title} role="alert">
      <Stack gap="xs" align="flex-start">
        <Code className="wrap">
          <ErrorText error={error} />
        </Code>
        <Text size="sm">{advice(t, error)}</Text>
        {onRetry && (
          <Button size="xs" variant="default" onClick={onRetry}>
            {t.common.retry}
          </Button>
        )}
      </Stack>
    </Alert>
  )
}
