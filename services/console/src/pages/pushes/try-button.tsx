import type { TargetTrial } from '@gateway/contracts/target.js'
import { IconPlugConnected } from '@tabler/icons-react'
import { useTryTarget } from '../../api/pushes.js'
import { useTexts } from '../../texts/texts.js'
import { notifyDone, notifyFailed } from '../../ui/notify.js'
import { useFormats } from '../../ui/use-formats.js'
import { ActionButton } from '../../ui/write-button.js'

/** Sends a test the way a push would go. */
export function TryButton({ code }: { code: string }) {
  const t = useTexts().pushes
  const formats = useFormats()
  const onDone = ({ delivered, message, answer, duration_ms: ms }: TargetTrial) => {
    if (delivered) notifyDone(t.tryDone(formats.number(ms)), message)
    else notifyFailed(t.tryFailed, [message, answer].filter((text) => text !== '').join(' · '))
  }
  return (
    <ActionButton
      needs="admin"
      size="xs"
      variant="default"
      icon={IconPlugConnected}
      write={useTryTarget(code)}
      onDone={onDone}
      failed={t.tryFailed}
      aria-label={`${t.tryTarget}: ${code}`}
    >
      {t.tryTarget}
    </ActionButton>
  )
}
