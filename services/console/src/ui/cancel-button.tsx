import { Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { useWrite } from '../api/use-write.js'
import { Confirm } from './confirm.js'
import { notifyDone } from './notify.js'
import { reported } from './reported.js'
import { WriteButton } from './write-button.js'

interface CancelButtonProps {
  readonly texts: Readonly<Record<'cancel' | 'cancelWords' | 'cancelled' | 'cancelFailed' | 'keep', string>>
  readonly title: string
  /** name of the object whose work is cancelled */
  readonly name: string
  readonly write: ReturnType<typeof useWrite<void>>
}

/** Cancels work in progress after confirmation. */
export function CancelButton({ texts: t, title, name, write }: CancelButtonProps) {
  const [opened, { open, close }] = useDisclosure()
  const confirm = () =>
    reported(write.mutateAsync(), () => {
      notifyDone(t.cancelled)
      close()
    })
  return (
    <>
      <WriteButton
        needs="operator"
        size="xs"
        variant="light"
        color="red"
        className="danger"
        onClick={open}
        aria-label={`${t.cancel}: ${name}`}
      >
        {t.cancel}
      </WriteButton>
      <Confirm
        opened={opened}
        title={title}
        action={t.cancel}
        cancel={t.keep}
        danger
        write={write}
        command={write.commandOf()}
        onConfirm={confirm}
        onClose={close}
        failed={t.cancelFailed}
      >
        <Text>{t.cancelWords}</Text>
      </Confirm>
    </>
  )
}
