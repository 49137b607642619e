import type { Texts } from '../texts/en.js'
import type { BulkAction } from './bulk.js'

/** Bulk actions for pushes. */
export function deliveryActions({ work: { bulk } }: Texts): readonly BulkAction[] {
  const { actions, effects } = bulk
  return [
    { action: 'retry', label: actions.retry, needs: 'operator' },
    { action: 'acknowledge', label: actions.acknowledge, needs: 'operator' },
    { action: 'cancel', label: actions.stopRetrying, needs: 'operator', effects: effects.stopRetrying },
  ]
}

/** Bulk actions for basemaps and vectors. */
export function catalogActions({ work: { bulk } }: Texts): readonly BulkAction[] {
  const { actions, effects } = bulk
  return [
    { action: 'withdraw', label: actions.withdraw, needs: 'operator', danger: true, effects: effects.withdraw },
    { action: 'restore', label: actions.restore, needs: 'operator', effects: effects.restore },
  ]
}

/** Bulk actions for slicing jobs. */
export function jobActions({ work: { bulk }, slicing }: Texts): readonly BulkAction[] {
  const { actions, effects } = bulk
  const cancelled = { effects: effects.cancelJobs, keep: slicing.keep }
  return [
    { action: 'cancel', label: actions.cancelJobs, needs: 'operator', ...cancelled },
    { action: 'acknowledge', label: actions.acknowledge, needs: 'operator' },
  ]
}
