import type { Texts } from '../texts/en.js'
import type { BulkAction } from './bulk-bar.js'

/** For pushes. */
export function deliveryActions({ work: { bulk } }: Texts): readonly BulkAction[] {
  return (['retry', 'acknowledge', 'cancel'] as const).map((action) => ({
    action,
    label: bulk.actions[action],
    needs: 'operator',
  }))
}

/** For basemaps and vectors. */
export function catalogActions({ work: { bulk } }: Texts): readonly BulkAction[] {
  return [
    { action: 'withdraw', label: bulk.actions.withdraw, needs: 'operator', danger: true },
    { action: 'restore', label: bulk.actions.restore, needs: 'operator' },
  ]
}

/** For slicing jobs. */
export function jobActions({ work: { bulk } }: Texts): readonly BulkAction[] {
  return (['cancel', 'acknowledge'] as const).map((action) => ({
    action,
    label: bulk.actions[action],
    needs: 'operator',
  }))
}
