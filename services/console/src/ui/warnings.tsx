import type { Warning } from '@gateway/contracts/warning.js'
import { Alert, List } from '@mantine/core'
import { ServerText } from './server-text.js'

/** Shows the service's warnings about accepted input; nothing if `warnings` is empty. */
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
