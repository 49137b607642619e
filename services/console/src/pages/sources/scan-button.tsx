import type { ScanSource } from '@gateway/contracts/scan-source.js'
import type { ButtonProps } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useRunScan } from '../../api/scan-sources.js'
import { useTexts } from '../../texts/texts.js'
import { notifyDone, notifyFailed } from '../../ui/notify.js'
import { shortText } from '../../ui/shown-text.js'
import { WriteButton } from '../../ui/write-button.js'

/** Runs a scan and reports its result. */
export function useScan(): { run: (code: string) => void; pending: string | null } {
  const t = useTexts().sources
  const scan = useRunScan({
    onSuccess: ({ status, message, added, updated, missing }, code) => {
      if (status === 'failed') notifyFailed(t.scanFailed(shortText(code)), message)
      else notifyDone(t.scanned(shortText(code)), t.outcome(added, updated, missing))
    },
    onError: (error, code) => notifyFailed(t.scanFailed(shortText(code)), error),
  })
  return { pending: scan.isPending ? (scan.variables ?? null) : null, run: (code) => scan.mutate(code) }
}

export function ScanButton({ source, ...look }: { source: ScanSource } & Pick<ButtonProps, 'size' | 'variant'>) {
  const t = useTexts().sources
  const { run, pending } = useScan()
  const busy = pending !== null || source.last_scan?.status === 'running'
  return (
    <WriteButton
      needs="operator"
      variant="light"
      size="xs"
      icon={IconRefresh}
      spinning={busy}
      disabled={busy || !source.enabled}
      onClick={() => run(source.code)}
      aria-label={`${t.scan}: ${source.name}`}
      {...look}
    >
      {busy ? t.scanning : t.scan}
    </WriteButton>
  )
}
