import { Alert, Button, Code, Stack, Text } from '@mantine/core'
import IconAlertTriangle from '~icons/alert-triangle'
import { ApiError } from '../api/client.js'
import type { Texts } from '../texts/en.js'
import { useTexts } from '../texts/texts.js'
import { ErrorText } from './server-text.js'

/** Returns the remedy of an error for an operator; undefined: the message says what to do. */
function adviceOf(t: Texts, error: unknown): string | undefined {
  if (!(error instanceof ApiError)) return t.problem.unexpected
  const { status, timedOut, code } = error
  if (timedOut) return t.problem.timedOut
  if (status === 0) return t.problem.unreachable
  // A proxy between the console and the service sends no code.
  return t.problem.advice[code ?? (status >= 500 ? 'internal' : 'invalid_parameters')]
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
  const advice = adviceOf(t, error)
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle />} title={title} role="alert">
      <Stack gap="xs" align="flex-start">
        <Code className="wrap">
          <ErrorText error={error} />
        </Code>
        {advice !== undefined && <Text size="sm">{advice}</Text>}
        {onRetry && (
          <Button size="xs" variant="default" onClick={onRetry}>
            {t.common.retry}
          </Button>
        )}
      </Stack>
    </Alert>
  )
}
