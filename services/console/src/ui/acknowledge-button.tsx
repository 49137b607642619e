import IconCheck from '~icons/check'
import type { useWrite } from '../api/use-write.js'
import { useTexts } from '../texts/texts.js'
import { notifyDone } from './notify.js'
import { ActionButton } from './write-button.js'

/** Marks a failure as seen, so that it needs no more attention. */
export function AcknowledgeButton({ write }: { write: ReturnType<typeof useWrite<void>> }) {
  const t = useTexts().overview
  return (
    <ActionButton
      needs="operator"
      variant="default"
      icon={IconCheck}
      write={write}
      onDone={() => notifyDone(t.acknowledged)}
      failed={t.acknowledgeFailed}
    >
      {t.acknowledge}
    </ActionButton>
  )
}
