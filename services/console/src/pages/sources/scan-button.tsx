import type { ScanSource } from '@gateway/contracts/scan-source.js'
import { Button, type ButtonProps } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useRunScan } from '../../api/scan-sources.js'
import { useTexts } from '../../texts/texts.js'
import { notifyDone, notifyFailed } from '../../ui/notify.js'

/** Runs a scan and tells what came of it. */
export function useScan(): { run: (code: string) => void; pending: string | null } {
  const t = useTexts().sources
  const scan = useRunScan({
    onDone: (code, { status, message, added, updated, missing }) => {
      if (status === 'failed') notifyFailed(t.scanFailed(code), message)
      else notifyDone(t.scanned(code), t.outcome(added, updated, missing))
    },
    onFailed: (code, error) => notifyFailed(t.scanFailed(code), error),
  })
  return { pending: scan.isPending ? scan.variables : null, run: (code) => scan.mutate(code) }
}

export function ScanButton({ source, ...look }: { source: ScanSource } & ButtonProps) {
  const t = useTexts().sources
  const { run, pending } = useScan()
  const busy = pending !== null || source.last_scan?.status === 'running'
  return (
    <Button
      variant="light"
      size="xs"
      leftSection={<IconRefresh size={15} aria-hidden className={busy ? 'spin' : ''} />}
      disabled={busy || !source.enabled}
      onClick={() => run(source.code)}
      aria-label={`${t.scan}: ${source.name}`}
      {...look}
    >
      {busy ? t.scanning : t.scan}
    </Button>
  )
}
