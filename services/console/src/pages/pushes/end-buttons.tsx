import { Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { type PushDetails, type PushKind, pushedName, useEndPush } from '../../api/pushes.js'
import { useTexts } from '../../texts/texts.js'
import { AcknowledgeButton } from '../../ui/acknowledge-button.js'
import { Confirm } from '../../ui/confirm.js'
import { notifyDone } from '../../ui/notify.js'
import { WriteButton } from '../../ui/write-button.js'

interface EndButtonProps {
  readonly of: PushKind
  readonly push: PushDetails
}

/** Gives up a push that is on its way, after confirmation; nothing for others. */
export function CancelPushButton({ of, push }: EndButtonProps) {
  const t = useTexts().pushes
  const [opened, { open, close }] = useDisclosure()
  const cancel = useEndPush(of, push.id, 'cancel')
  if (push.next_attempt_at === null) return null
  const confirm = () =>
    cancel.mutate(undefined, {
      onSuccess: () => {
        notifyDone(t.cancelled)
        close()
      },
    })
  return (
    <>
      <WriteButton needs="operator" variant="light" color="red" className="danger" onClick={open}>
        {t.cancel}
      </WriteButton>
      <Confirm
        opened={opened}
        title={t.cancelTitle(pushedName(push))}
        action={t.cancel}
        cancel={t.keep}
        danger
        write={cancel}
        command={cancel.commandOf()}
        onConfirm={confirm}
        onClose={close}
        failed={t.cancelFailed}
      >
        <Text>{t.cancelWords}</Text>
      </Confirm>
    </>
  )
}

/** Nothing for a push that has not failed, or that was seen. */
export function SeenPushButton({ of, push }: EndButtonProps) {
  const seen = useEndPush(of, push.id, 'acknowledge')
  return push.status === 'failed' && push.acknowledged_at === null ? <AcknowledgeButton write={seen} /> : null
}
