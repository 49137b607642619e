import type { ErrorCode } from '@gateway/contracts/errors.js'
import { Alert, Button, Code, Stack, Text } from '@mantine/core'
import IconAlertTriangle from '~icons/alert-triangle'
import { ApiError } from '../api/client.js'
import type { Texts } from '../texts/en.js'
import { useTexts } from '../texts/texts.js'
import { ErrorText } from './server-text.js'

/** Codes for the responses of a proxy between the console and the service, which sends none. */
const CODE_OF_STATUS: Readonly<Partial<Record<number, ErrorCode>>> = {
  401: 'admin_credentials_missing',
  404: 'not_found',
  413: 'payload_too_large',
  429: 'too_many_requests',
}

/** Returns the remedy of an error for an operator; undefined: the message says what to do. */
function adviceOf(t: Texts, error: unknown): string | undefined {
  if (!(error instanceof ApiError)) return t.problem.unexpected
  const { status, timedOut, code } = error
  if (timedOut) return t.problem.timedOut
  if (status === 0) return t.problem.unreachable
  return t.problem.advice[code ?? CODE_OF_STATUS[status] ?? (status >= 500 ? 'internal' : 'invalid_parameters')]
}

/** Shows an error in the server's words, with its remedy. Without a response, the browser's own words help nobody, so they are left out. */
export function Failure({ error, framed = false }: { readonly error: unknown; readonly framed?: boolean }) {
  const advice = adviceOf(useTexts(), error)
  const answered = !(error instanceof ApiError && error.status === 0)
  const words = <ErrorText error={error} />
  return (
    <>
      {answered && (framed ? <Code className="wrap">{words}</Code> : <Text size="sm">{words}</Text>)}
      {advice !== undefined && <Text size="sm">{advice}</Text>}
    </>
  )
}

export interface ProblemProps {
  /** the failed action */
  readonly title: string
  readonly error: unknown
  readonly onRetry?: (() => void) | undefined
  /** true while it is tried again */
  readonly busy?: boolean
}

/** Shows an error in its own frame, with its remedy. */
export function Problem({ title, error, onRetry, busy = false }: ProblemProps) {
  const t = useTexts()
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle />} title={title} role="alert">
      <Stack gap="xs" align="flex-start">
        <Failure error={error} framed />
        {onRetry && (
          <Button size="xs" variant="default" onClick={onRetry} loading={busy}>
            {t.common.retry}
          </Button>
        )}
      </Stack>
    </Alert>
  )
}
