import type { ButtonProps } from '@mantine/core'
import IconRefresh from '~icons/refresh'
import { type AnyPush, type PushKind, pushedName, useRetryPush } from '../../api/pushes.js'
import { useTexts } from '../../texts/texts.js'
import { notifyDone } from '../../ui/notify.js'
import { ActionButton } from '../../ui/write-button.js'

interface RetryButtonProps extends Pick<ButtonProps, 'size' | 'variant'> {
  readonly of: PushKind
  readonly record: AnyPush
}

/** Retries a delivery. Less prominent if the delivery succeeded. */
export function RetryButton({ of, record, ...look }: RetryButtonProps) {
  const { pushes: t, work } = useTexts()
  const words = record.status === 'succeeded' ? work.pushAgain : t.retry
  return (
    <ActionButton
      needs="operator"
      size="xs"
      variant={record.status === 'succeeded' ? 'subtle' : 'light'}
      icon={IconRefresh}
      write={useRetryPush(of, record.id)}
      onDone={() => notifyDone(t.retried)}
      failed={t.retryFailed}
      aria-label={`${words}: ${pushedName(record)}`}
      {...look}
    >
      {words}
    </ActionButton>
  )
}
