import { type PushDetails, type PushKind, pushedName, useEndPush } from '../../api/pushes.js'
import { useTexts } from '../../texts/texts.js'
import { AcknowledgeButton } from '../../ui/acknowledge-button.js'
import { CancelButton } from '../../ui/cancel-button.js'

interface EndButtonProps {
  readonly of: PushKind
  readonly push: PushDetails
}

/** Cancels a push in progress. Renders nothing for other pushes. */
export function CancelPushButton({ of, push }: EndButtonProps) {
  const t = useTexts().pushes
  const cancel = useEndPush(of, push.id, 'cancel')
  const name = pushedName(push)
  return push.next_attempt_at === null ? null : (
    <CancelButton texts={t} title={t.cancelTitle(name)} name={name} write={cancel} />
  )
}

/** Marks a failed push as seen. Renders nothing if the push has not failed or was already seen. */
export function SeenPushButton({ of, push }: EndButtonProps) {
  const seen = useEndPush(of, push.id, 'acknowledge')
  return push.status === 'failed' && push.acknowledged_at === null ? <AcknowledgeButton write={seen} /> : null
}
