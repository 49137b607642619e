import { ActionIcon, Alert, Popover, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import IconLogout from '~icons/logout'
import IconUser from '~icons/user'
import { isSignedIn, sessionQuery, useSessionEnded, useSignOut } from '../api/session.js'
import { useTexts } from '../texts/texts.js'
import Modal from '../ui/modal.js'
import { Name } from '../ui/name.js'
import { shortText } from '../ui/shown-text.js'
import { Moment } from '../ui/time.js'
import { ActionButton, WriteButton } from '../ui/write-button.js'

/** Shows the user and the role, and signs out. */
export function Account() {
  const t = useTexts().account
  const session = useQuery(sessionQuery).data
  const signOut = useSignOut()
  if (session === undefined) return null
  const { name, actor, role, by, expires_at: end } = session
  return (
    <Popover position="bottom-end" width={280} trapFocus>
      <Popover.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t.who(shortText(name), t.roles[role])}>
          <IconUser size={20} stroke={1.6} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label={t.account}>
        <Stack gap={2}>
          <Text fw={600} component="div">
            <Name>{name}</Name>
          </Text>
          {actor !== name && (
            <Text size="sm" c="dimmed" component="div">
              <Name>{actor}</Name>
            </Text>
          )}
          <Text size="sm">{t.role(t.roles[role])}</Text>
          <Text size="sm" c="dimmed">
            {t.by[by]}
          </Text>
          {end !== null && (
            <Text size="sm" c="dimmed" component="div">
              {t.until} <Moment at={end} />
            </Text>
          )}
          {isSignedIn(session) && (
            <ActionButton
              needs="viewer"
              variant="default"
              mt="xs"
              icon={IconLogout}
              write={signOut}
              onDone={() => {}}
              failed={t.signOutFailed}
            >
              {t.signOut}
            </ActionButton>
          )}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}

/** Opened by this page, so that it may close itself. */
const SIGN_IN_AGAIN = '/admin/sign-in?to=/admin/signed-in'

/** Covers a page whose session has ended. Its input stays, and continues after a sign-in in another window. */
export function SessionEnded() {
  const t = useTexts().account
  const session = useQuery(sessionQuery).data
  const ended = useSessionEnded()
  return (
    <Modal
      opened={ended && isSignedIn(session)}
      onClose={() => {}}
      title={t.endedTitle}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      zIndex={500}
    >
      <Stack>
        <Alert color="blue">{t.ended}</Alert>
        <WriteButton
          needs="viewer"
          onClick={() => window.open(SIGN_IN_AGAIN, 'gateway-sign-in', 'popup,width=520,height=720')}
        >
          {t.signInAgain}
        </WriteButton>
      </Stack>
    </Modal>
  )
}
