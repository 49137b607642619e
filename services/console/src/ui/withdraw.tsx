import { Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useWithdraw, type Withdrawal } from '../api/catalog.js'
import { useTexts } from '../texts/texts.js'
import { Confirm } from './confirm.js'
import { reported } from './reported.js'
import { shortText } from './shown-text.js'
import { Status } from './status.js'
import { notifyUndoable } from './undo.js'
import { WriteButton } from './write-button.js'

interface Withdrawable {
  readonly withdrawn: boolean
  readonly source_enabled?: boolean
}

/** True if readers get it. A preview requests it as they do. */
export function isServed({ withdrawn, source_enabled: sourceEnabled = true }: Withdrawable): boolean {
  return !withdrawn && sourceEnabled
}

/** Shows why readers do not get it; nothing if they do. */
export function WithdrawnMark({ of }: { of: Withdrawable }) {
  const t = useTexts()
  if (of.withdrawn) return <Status tone="off">{t.withdraw.withdrawn}</Status>
  return of.source_enabled === false ? <Status tone="off">{t.withdraw.sourceDisabled}</Status> : null
}

interface WithdrawButtonProps {
  readonly withdrawal: Withdrawal
  readonly name: string
  readonly withdrawn: boolean
}

/** Withdraws something from its readers, or restores it, after confirmation. */
export function WithdrawButton({ withdrawal, name, withdrawn }: WithdrawButtonProps) {
  const t = useTexts().withdraw
  const [opened, { open, close }] = useDisclosure()
  const set = useWithdraw(withdrawal)
  const short = shortText(name)
  const action = withdrawn ? t.restore : t.withdraw
  const confirm = () =>
    reported(set.mutateAsync(!withdrawn), ({ confirmed, pending }) => {
      const edges = t.confirmedBy(confirmed.length, confirmed.length + pending.length)
      notifyUndoable(`${withdrawn ? t.restored(short) : t.done(short)} ${edges}`, () => set.mutateAsync(withdrawn))
      close()
    })
  return (
    <>
      <WriteButton needs="operator" variant="default" onClick={open}>
        {action}
      </WriteButton>
      <Confirm
        opened={opened}
        title={withdrawn ? t.restoreTitle(short) : t.title(short)}
        action={action}
        write={set}
        command={set.commandOf(!withdrawn)}
        onConfirm={confirm}
        onClose={close}
        failed={t.failed}
      >
        <Text>{withdrawn ? t.restoreWords : t.words}</Text>
      </Confirm>
    </>
  )
}
