import { Button, Group, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'
import type { Call } from '../api/client.js'
import type { PendingWrite } from '../api/use-write.js'
import { useTexts } from '../texts/texts.js'
import { AsCommand } from './as-command.js'
import { Dialog } from './dialog.js'
import { notifyInfo } from './notify.js'
import { Problem } from './problem.js'
import { WriteButton, type WriteButtonProps } from './write-button.js'

interface ConfirmProps {
  readonly opened: boolean
  readonly title: string
  /** label of the button that confirms */
  readonly action: string
  readonly write: PendingWrite
  /** the request to send */
  readonly command: Call
  readonly onConfirm: () => void
  readonly onClose: () => void
  /** title of the message about a failure */
  readonly failed: string
  readonly cancel?: string
  /** true if the action deletes something permanently */
  readonly danger?: boolean
  readonly size?: string
  readonly children: ReactNode
}

/** Confirms a change. Closing the dialog aborts a change in progress. */
export function Confirm({
  opened,
  title,
  action,
  write,
  command,
  onConfirm,
  onClose,
  failed,
  children,
  ...look
}: ConfirmProps) {
  const t = useTexts()
  const close = () => {
    if (write.isPending) notifyInfo(t.common.aborted, t.common.abortedAdvice)
    write.cancel()
    onClose()
  }
  return (
    <Dialog opened={opened} onClose={close} title={title} {...(look.size !== undefined && { size: look.size })}>
      {opened && (
        <Stack>
          {children}
          {write.error !== null && <Problem title={failed} error={write.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {look.cancel ?? t.common.cancel}
            </Button>
            <WriteButton
              needs="viewer"
              // White on the default red misses the contrast of 4.5 to 1.
              {...(look.danger && { color: 'red.9' })}
              loading={write.isPending}
              onClick={onConfirm}
              data-autofocus
            >
              {action}
            </WriteButton>
          </Group>
          <AsCommand command={() => command} />
        </Stack>
      )}
    </Dialog>
  )
}

interface ConfirmButtonProps extends Omit<ConfirmProps, 'opened' | 'onConfirm' | 'onClose'> {
  readonly button: WriteButtonProps
  readonly onConfirm: (close: () => void) => void
}

/** A button that opens a confirmation. Its label is the action. */
export function ConfirmButton({ button, onConfirm, ...dialog }: ConfirmButtonProps) {
  const [opened, { open, close }] = useDisclosure()
  return (
    <>
      <WriteButton {...button} onClick={open}>
        {dialog.action}
      </WriteButton>
      <Confirm {...dialog} opened={opened} onConfirm={() => onConfirm(close)} onClose={close} />
    </>
  )
}
