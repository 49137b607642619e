import type { Texts } from '../texts/en.js'
import type { BulkAction } from './bulk.js'

/** Bulk actions for pushes. */
export function deliveryActions({ work: { bulk } }: Texts): readonly BulkAction[] {
  return (['retry', 'acknowledge', 'cancel'] as const).map((action) => ({
    action,
    label: bulk.actions[action],
    needs: 'operator',
  }))
}

/** Bulk actions for basemaps and vectors. */
export function catalogActions({ work: { bulk } }: Texts): readonly BulkAction[] {
  return [
    { action: 'withdraw', label: bulk.actions.withdraw, needs: 'operator', danger: true },
    { action: 'restore', label: bulk.actions.restore, needs: 'operator' },
  ]
}

/** Bulk actions for slicing jobs. */
export function jobActions({ work: { bulk } }: Texts): readonly BulkAction[] {
  return (['cancel', 'acknowledge'] as const).map((action) => ({
    action,
    label: bulk.actions[action],
    needs: 'operator',
  }))
}
