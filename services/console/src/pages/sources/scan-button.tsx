import type { ScanSource } from '@gateway/contracts/scan-source.js'
import { type ButtonProps, Group } from '@mantine/core'
import IconRefresh from '~icons/refresh'
import { useCancelScan, useQueueScan } from '../../api/scan-sources.js'
import { useTexts } from '../../texts/texts.js'
import { notifyFailed } from '../../ui/notify.js'
import { shortText } from '../../ui/shown-text.js'
import { WriteButton } from '../../ui/write-button.js'

/** Queues the scan of a source; the source's page shows its progress. */
export function useScan(): { run: (code: string) => void; pending: boolean } {
  const t = useTexts().sources
  const scan = useQueueScan({ onError: (error, code) => notifyFailed(t.scanFailed(shortText(code)), error) })
  return { pending: scan.isPending, run: (code) => scan.mutate(code) }
}

export function ScanButton({ source, ...look }: { source: ScanSource } & Pick<ButtonProps, 'size' | 'variant'>) {
  const t = useTexts()
  const { run, pending } = useScan()
  const cancel = useCancelScan({
    onError: (error, code) => notifyFailed(t.sources.cancelFailed(shortText(code)), error),
  })
  const running = source.last_scan?.status === 'running'
  const waiting = !running && source.queued_at !== null
  const busy = pending || running || waiting
  return (
    <Group gap="xs" wrap="nowrap" display="inline-flex">
      <WriteButton
        needs="operator"
        variant="light"
        size="xs"
        icon={IconRefresh}
        spinning={busy}
        disabled={busy || !source.enabled}
        onClick={() => run(source.code)}
        aria-label={`${t.sources.scan}: ${source.name}`}
        {...look}
      >
        {waiting ? t.sources.waiting : busy ? t.sources.scanning : t.sources.scan}
      </WriteButton>
      {(running || waiting) && (
        <WriteButton
          needs="operator"
          size="xs"
          {...look}
          variant="default"
          loading={cancel.isPending}
          onClick={() => cancel.mutate(source.code)}
          aria-label={`${t.sources.cancel}: ${source.name}`}
        >
          {t.common.cancel}
        </WriteButton>
      )}
    </Group>
  )
}
