import type { IssuedToken } from '@gateway/contracts/token.js'
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import IconAlertTriangle from '~icons/alert-triangle'
import { useTexts } from '../../texts/texts.js'
import { CopyBlock } from '../../ui/copy.js'
import { LeaveGuard } from '../../ui/leave-guard.js'
import Modal from '../../ui/modal.js'

interface IssuedDialogProps {
  /** null if the dialog is closed */
  readonly issued: IssuedToken | null
  /** default: a title that says that the token was issued */
  readonly title?: string
  readonly apiBase: string
  readonly onClose: () => void
}

/** Shows the plaintext of a token for the only time. Only its button closes the dialog, and Back asks first: a slip would lose the token. */
export function IssuedDialog({ issued, title, apiBase, onClose }: IssuedDialogProps) {
  const t = useTexts()
  const [origin] = issued?.allowed_origins ?? []
  const readsMaps = issued?.scopes.includes('read') && issued.basemap_codes.length + issued.vector_codes.length > 0
  return (
    <Modal
      opened={issued !== null}
      onClose={onClose}
      title={title ?? t.tokens.issued}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      {issued !== null && (
        <Stack>
          <Alert color="orange" icon={<IconAlertTriangle />}>
            {t.tokens.issuedWarning}
          </Alert>
          <CopyBlock text={issued.token} what={t.tokens.theToken} />
          <Text size="sm" fw={550}>
            {t.tokens.tryIt}
          </Text>
          <CopyBlock
            text={`curl${origin === undefined ? '' : ` -H 'Origin: ${origin}'`} -H 'X-Access-Token: ${issued.token}' '${apiBase}/api/v1/catalog/basemaps'`}
            what={t.tokens.tryIt}
          />
          {readsMaps && (
            <>
              <Text size="sm" fw={550}>
                {t.tokens.mapAddress}
              </Text>
              {origin === undefined || issued.allowed_origins.includes(new URL(apiBase).origin) ? (
                <CopyBlock text={`${apiBase}/map/#token=${issued.token}`} what={t.tokens.mapAddress} />
              ) : (
                <Text size="sm">{t.tokens.onlyOnPages(issued.allowed_origins.join(', '))}</Text>
              )}
            </>
          )}
          <LeaveGuard when={() => true} title={t.leave.tokenTitle}>
            {t.leave.token}
          </LeaveGuard>
          <Group justify="flex-end">
            <Button onClick={onClose}>{t.tokens.done}</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}
