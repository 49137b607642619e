import type { DisabledToken, EdgePresence } from '@gateway/contracts/edge.js'
import type { Token } from '@gateway/contracts/token.js'
import { Alert, Button, Code, Group, List, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { settingsQuery } from '../../api/system.js'
import { useDisableToken } from '../../api/tokens.js'
import { useTexts } from '../../texts/texts.js'
import { Confirm } from '../../ui/confirm.js'
import Modal from '../../ui/modal.js'
import { shortText } from '../../ui/shown-text.js'
import { Status } from '../../ui/status.js'

interface DisableDialogProps {
  /** null if the dialog is closed */
  readonly token: Token | null
  readonly onClose: () => void
}

/** Confirms and disables a token, and shows which edge processes have applied the change. */
export function DisableDialog({ token, onClose }: DisableDialogProps) {
  const t = useTexts()
  const disable = useDisableToken()
  const close = () => {
    disable.reset()
    onClose()
  }
  if (disable.isSuccess) {
    return (
      <Modal opened={token !== null} onClose={close} title={t.tokens.disabledTitle}>
        <Stack>
          <Code>{token?.prefix}…</Code>
          <Confirmations disabled={disable.data} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {t.common.close}
            </Button>
          </Group>
        </Stack>
      </Modal>
    )
  }
  return (
    <Confirm
      opened={token !== null}
      title={t.tokens.disableTitle(shortText(token?.name ?? ''))}
      action={t.tokens.disable}
      danger
      write={disable}
      command={disable.commandOf(token?.id ?? '')}
      onConfirm={() => token !== null && disable.mutate(token.id)}
      onClose={onClose}
      failed={t.tokens.disableFailed}
    >
      <Code>{token?.prefix}…</Code>
      <Text role={disable.isPending ? 'status' : undefined}>
        {disable.isPending ? t.tokens.waiting : t.tokens.disableWords}
      </Text>
    </Confirm>
  )
}

function Confirmations({ disabled: { confirmed, pending } }: { disabled: DisabledToken }) {
  const t = useTexts().tokens
  const stale = useQuery(settingsQuery).data?.items.find(({ name }) => name === 'TOKEN_STALE_SECONDS')?.value
  const of = confirmed.length + pending.length
  if (of === 0) return <Alert color="blue">{t.noEdges}</Alert>
  const item = ({ id, host, pid }: EdgePresence, tone: 'good' | 'warning') => (
    <List.Item key={id}>
      <Status tone={tone}>{tone === 'good' ? t.confirmed : t.pending}</Status>{' '}
      <span className="mono">
        {host} {pid}
      </span>
    </List.Item>
  )
  return (
    <Stack gap="sm" role="status">
      <Text>{t.confirmedBy(confirmed.length, of)}</Text>
      <List listStyleType="none" spacing="xs">
        {confirmed.map((edge) => item(edge, 'good'))}
        {pending.map((edge) => item(edge, 'warning'))}
      </List>
      {pending.length > 0 && (
        <Text size="sm">{typeof stale === 'number' ? t.pendingWords(stale) : t.pendingWordsUnknown}</Text>
      )}
    </Stack>
  )
}
