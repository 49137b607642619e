import { Button } from '@mantine/core'
import { IconHeartbeat } from '@tabler/icons-react'
import { useHealthCheck } from '../../api/catalog.js'
import { useTexts } from '../../texts/texts.js'
import { notifyDone, notifyFailed } from '../../ui/notify.js'

/** Looks at once whether everything that the catalog lists can be opened. */
export function CheckButton() {
  const t = useTexts().overview
  const check = useHealthCheck()
  const run = () =>
    check.mutate(undefined, {
      onSuccess: (result) =>
        notifyDone(
          t.checked,
          t.checkResult(
            result.versions_checked,
            result.versions_missing,
            result.vectors_checked,
            result.vectors_missing,
          ),
        ),
      onError: (error) => notifyFailed(t.checkFailed, error),
    })
  return (
    <Button
      variant="default"
      leftSection={<IconHeartbeat size={17} aria-hidden />}
      loading={check.isPending}
      onClick={run}
    >
      {t.check}
    </Button>
  )
}
