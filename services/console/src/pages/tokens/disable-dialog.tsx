import type { DisabledToken, EdgePresence } from '@gateway/contracts/edge.js'
import type { Token } from '@gateway/contracts/token.js'
import { Alert, Button, Code, Group, List, Modal, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { settingsQuery } from '../../api/system.js'
import { useDisableToken } from '../../api/tokens.js'
import { useTexts } from '../../texts/texts.js'
import { Problem } from '../../ui/problem.js'
import { Status } from '../../ui/status.js'

interface DisableDialogProps {
  /** null: closed */
  readonly token: Token | null
  readonly onClose: () => void
}

/** Asks, disables, and shows which edge processes have confirmed. */
export function DisableDialog({ token, onClose }: DisableDialogProps) {
  const t = useTexts()
  const disable = useDisableToken()
  const close = () => {
    disable.reset()
    onClose()
  }
  return (
    <Modal
      opened={token !== null}
      onClose={close}
      title={disable.isSuccess ? t.tokens.disabledTitle : t.tokens.disableTitle(token?.name ?? '')}
    >
      {token !== null && (
        <Stack>
          <Code>{token.prefix}…</Code>
          {disable.isSuccess ? (
            <Confirmations disabled={disable.data} />
          ) : (
            <Text role={disable.isPending ? 'status' : undefined}>
              {disable.isPending ? t.tokens.waiting : t.tokens.disableWords}
            </Text>
          )}
          {disable.error !== null && <Problem title={t.tokens.disableFailed} error={disable.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {disable.isSuccess ? t.common.close : t.common.cancel}
            </Button>
            {!disable.isSuccess && (
              <Button color="red" loading={disable.isPending} onClick={() => disable.mutate(token.id)} data-autofocus>
                {t.tokens.disable}
              </Button>
            )}
          </Group>
        </Stack>
      )}
    </Modal>
  )
}

function Confirmations({ disabled: { confirmed, pending } }: { disabled: DisabledToken }) {
  const t = useTexts()
  const stale = useQuery(settingsQuery).data?.items.find(({ name }) => name === 'TOKEN_STALE_SECONDS')?.value
  const of = confirmed.length + pending.length
  if (of === 0) return <Alert color="blue">{t.tokens.noEdges}</Alert>
  return (
    <Stack gap="sm" role="status">
      <Text>{t.tokens.confirmedBy(confirmed.length, of)}</Text>
      <List listStyleType="none" spacing="xs">
        {confirmed.map((edge) => (
          <List.Item key={edge.id}>
            <Status tone="good">{t.tokens.confirmed}</Status> <EdgeName edge={edge} />
          </List.Item>
        ))}
        {pending.map((edge) => (
          <List.Item key={edge.id}>
            <Status tone="warning">{t.tokens.pending}</Status> <EdgeName edge={edge} />
          </List.Item>
        ))}
      </List>
      {pending.length > 0 && (
        <Text size="sm">{typeof stale === 'number' ? t.tokens.pendingWords(stale) : t.tokens.pendingWordsUnknown}</Text>
      )}
    </Stack>
  )
}

function EdgeName({ edge }: { edge: EdgePresence }) {
  return (
    <span className="mono">
      {edge.host} {edge.pid}
    </span>
  )
}
