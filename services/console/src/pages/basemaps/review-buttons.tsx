import type { AdminBasemapVersion } from '@gateway/contracts/basemap.js'
import { Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useReviewVersion } from '../../api/catalog.js'
import { useTexts } from '../../texts/texts.js'
import { ConfirmButton } from '../../ui/confirm.js'
import { notifyDone } from '../../ui/notify.js'
import { reported } from '../../ui/reported.js'
import { shortText } from '../../ui/shown-text.js'
import { Status } from '../../ui/status.js'

interface ReviewProps {
  readonly code: string
  readonly version: AdminBasemapVersion
}

/** Publishes a held version, or rejects it with a reason. Renders nothing for other versions. */
export function ReviewButtons({ code, version }: ReviewProps) {
  const t = useTexts().automation
  if (!version.held && version.rejected_reason === null) return null
  const name = shortText(version.version)
  return (
    <>
      <Status tone={version.held ? 'busy' : 'off'}>{version.held ? t.held : t.rejected}</Status>
      <Ask
        code={code}
        version={version.version}
        decision="approve"
        words={{
          action: t.approve,
          title: t.approveTitle(name),
          body: t.approveWords,
          done: t.approved(name),
          failed: t.approveFailed,
        }}
      />
      {version.held && (
        <Ask
          code={code}
          version={version.version}
          decision="reject"
          words={{
            action: t.reject,
            title: t.rejectTitle(name),
            body: t.rejectWords,
            done: t.rejectedDone(name),
            failed: t.rejectFailed,
          }}
        />
      )}
    </>
  )
}

interface AskProps {
  readonly code: string
  readonly version: string
  readonly decision: 'approve' | 'reject'
  readonly words: Readonly<Record<'action' | 'title' | 'body' | 'done' | 'failed', string>>
}

function Ask({ code, version, decision, words }: AskProps) {
  const t = useTexts().automation
  const [reason, setReason] = useState('')
  const review = useReviewVersion(code, version, decision)
  const confirm = (close: () => void) =>
    reported(review.mutateAsync(reason.trim()), () => {
      notifyDone(words.done)
      close()
    })
  return (
    <ConfirmButton
      button={{ needs: 'operator', variant: decision === 'approve' ? 'filled' : 'default' }}
      title={words.title}
      action={words.action}
      write={review}
      command={review.commandOf(reason.trim())}
      onConfirm={confirm}
      failed={words.failed}
    >
      <Text>{words.body}</Text>
      {decision === 'reject' && (
        <TextInput
          label={t.reason}
          required
          maxLength={500}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
      )}
    </ConfirmButton>
  )
}
