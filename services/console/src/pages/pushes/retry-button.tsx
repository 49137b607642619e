import type { PushRecord, VectorPushRecord } from '@gateway/contracts/push.js'
import { Button, type ButtonProps } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { type PushKind, pushedName, useRetryPush } from '../../api/pushes.js'
import { useTexts } from '../../texts/texts.js'
import { notifyDone, notifyFailed } from '../../ui/notify.js'

interface RetryButtonProps extends ButtonProps {
  readonly of: PushKind
  readonly record: PushRecord | VectorPushRecord
}

/** Delivers again; of what has arrived nobody is asked to press it by its look. */
export function RetryButton({ of, record, ...look }: RetryButtonProps) {
  const t = useTexts().pushes
  const retry = useRetryPush()
  const run = () =>
    retry.mutate(
      { of, id: record.id },
      { onSuccess: () => notifyDone(t.retried), onError: (error) => notifyFailed(t.retryFailed, error) },
    )
  return (
    <Button
      size="xs"
      variant={record.status === 'succeeded' ? 'subtle' : 'light'}
      leftSection={<IconRefresh size={15} aria-hidden />}
      loading={retry.isPending}
      onClick={run}
      aria-label={`${t.retry}: ${pushedName(record)}`}
      {...look}
    >
      {t.retry}
    </Button>
  )
}
