import { Text } from '@mantine/core'
import { useWithdraw, type Withdrawal } from '../api/catalog.js'
import { useTexts } from '../texts/texts.js'
import { ConfirmButton } from './confirm.js'
import { reported } from './reported.js'
import { shortText } from './shown-text.js'
import { notifyUndoable } from './undo.js'

interface WithdrawButtonProps {
  readonly withdrawal: Withdrawal
  readonly name: string
  readonly withdrawn: boolean
}

/** Withdraws something from its readers, or restores it, after confirmation. */
export function WithdrawButton({ withdrawal, name, withdrawn }: WithdrawButtonProps) {
  const t = useTexts().withdraw
  const set = useWithdraw(withdrawal)
  const short = shortText(name)
  const action = withdrawn ? t.restore : t.withdraw
  const confirm = (close: () => void) =>
    reported(set.mutateAsync(!withdrawn), ({ confirmed, pending }) => {
      const edges = t.confirmedBy(confirmed.length, confirmed.length + pending.length)
      notifyUndoable(`${withdrawn ? t.restored(short) : t.done(short)} ${edges}`, () => set.mutateAsync(withdrawn))
      close()
    })
  return (
    <ConfirmButton
      button={{ needs: 'operator', variant: 'default' }}
      title={withdrawn ? t.restoreTitle(short) : t.title(short)}
      action={action}
      write={set}
      command={set.commandOf(!withdrawn)}
      onConfirm={confirm}
      failed={t.failed}
    >
      <Text>{withdrawn ? t.restoreWords : t.words}</Text>
    </ConfirmButton>
  )
}
