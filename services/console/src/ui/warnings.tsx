import type { Warning } from '@gateway/contracts/warning.js'
import { Alert, List } from '@mantine/core'
import { ServerText } from './server-text.js'

/** What the service has accepted and takes for a mistake; nothing if there is none. */
export function Warnings({ warnings = [] }: { warnings?: readonly Warning[] | undefined }) {
  if (warnings.length === 0) return null
  return (
    <Alert color="orange" role="status">
      <List size="sm" listStyleType="none">
        {warnings.map(({ code, message, params }) => (
          <List.Item key={message}>
            <ServerText text={message} code={code} params={params} />
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}
