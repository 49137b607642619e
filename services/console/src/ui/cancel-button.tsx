import { Text } from '@mantine/core'
import type { useWrite } from '../api/use-write.js'
import { ConfirmButton } from './confirm.js'
import { notifyDone } from './notify.js'
import { reported } from './reported.js'

interface CancelButtonProps {
  readonly texts: Readonly<Record<'cancel' | 'cancelWords' | 'cancelled' | 'cancelFailed' | 'keep', string>>
  readonly title: string
  /** name of the object whose work is cancelled */
  readonly name: string
  readonly write: ReturnType<typeof useWrite<void>>
}

/** Cancels work in progress after confirmation. */
export function CancelButton({ texts: t, title, name, write }: CancelButtonProps) {
  const confirm = (close: () => void) =>
    reported(write.mutateAsync(), () => {
      notifyDone(t.cancelled)
      close()
    })
  return (
    <ConfirmButton
      button={{
        needs: 'operator',
        size: 'xs',
        variant: 'light',
        color: 'red',
        className: 'danger',
        'aria-label': `${t.cancel}: ${name}`,
      }}
      title={title}
      action={t.cancel}
      cancel={t.keep}
      danger
      write={write}
      command={write.commandOf()}
      onConfirm={confirm}
      failed={t.cancelFailed}
    >
      <Text>{t.cancelWords}</Text>
    </ConfirmButton>
  )
}
