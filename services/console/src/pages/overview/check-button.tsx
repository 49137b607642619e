import type { HealthCheck } from '@gateway/contracts/health.js'
import IconHeartbeat from '~icons/heartbeat'
import { useHealthCheck } from '../../api/catalog.js'
import { useTexts } from '../../texts/texts.js'
import { notifyDone } from '../../ui/notify.js'
import { ActionButton } from '../../ui/write-button.js'
import { checkResult } from './last-check.js'

/** Checks that every file in the catalog can be opened. */
export function CheckButton() {
  const t = useTexts().overview
  const onDone = (health: HealthCheck) => notifyDone(t.checked, checkResult(t, health))
  return (
    <ActionButton
      needs="operator"
      variant="default"
      icon={IconHeartbeat}
      write={useHealthCheck()}
      onDone={onDone}
      failed={t.checkFailed}
    >
      {t.check}
    </ActionButton>
  )
}
