import { Button } from '@mantine/core'
import { IconPlugConnected } from '@tabler/icons-react'
import { useTryTarget } from '../../api/pushes.js'
import { useTexts } from '../../texts/texts.js'
import { notifyDone, notifyFailed } from '../../ui/notify.js'
import { useFormats } from '../../ui/use-formats.js'

/** Sends a test the way a push would go. */
export function TryButton({ code }: { code: string }) {
  const t = useTexts().pushes
  const formats = useFormats()
  const trial = useTryTarget()
  const run = () =>
    trial.mutate(code, {
      onSuccess: ({ delivered, message, answer, duration_ms: ms }) => {
        if (delivered) notifyDone(t.tryDone(formats.number(ms)), message)
        else notifyFailed(t.tryFailed, [message, answer].filter((text) => text !== '').join(' · '))
      },
      onError: (error) => notifyFailed(t.tryFailed, error),
    })
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<IconPlugConnected size={15} aria-hidden />}
      loading={trial.isPending}
      onClick={run}
      aria-label={`${t.tryTarget}: ${code}`}
    >
      {t.tryTarget}
    </Button>
  )
}
