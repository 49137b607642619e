import type { ErrorCode } from '@gateway/contracts/errors.js'
import { Alert, Button, Code, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { ApiError } from '../api/client.js'
import type { Texts } from '../texts/en.js'
import { useTexts } from '../texts/texts.js'
import { ErrorText } from './server-text.js'

/** The code whose advice fits a response without a code, by its status. */
const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'admin_credentials_missing',
  404: 'not_found',
  409: 'conflict',
  429: 'too_many_requests',
  503: 'dependency_down',
}

/** Returns the remedy of an error for an operator. */
function advice(t: Texts, error: unknown): string {
  if (!(error instanceof ApiError)) return t.problem.unexpected
  const { status, timedOut, code } = error
  if (timedOut) return t.problem.timedOut
  if (status === 0) return t.problem.unreachable
  // An older edge passes no code on, and a newer service has more codes.
  const own = code === null ? undefined : t.problem.codes[code]
  if (own !== undefined) return own
  if (status === 403) return t.problem.forbidden
  return t.problem.codes[CODE_OF_STATUS[status] ?? (status >= 500 ? 'internal' : 'invalid_parameters')]
}

export interface ProblemProps {
  /** the failed action */
  readonly title: string
  readonly error: unknown
  readonly onRetry?: (() => void) | undefined
}

/** Shows an error in the server's words, with its remedy. */
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
