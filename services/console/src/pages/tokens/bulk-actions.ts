import { lazy } from 'react'
import type { Texts } from '../../texts/en.js'
import type { BulkAction } from '../../ui/bulk.js'

// Not in the first file, as the dialog that shows them.
const ExtendFields = lazy(async () => ({ default: (await import('./bulk-fields.js')).ExtendFields }))
const GrantFields = lazy(async () => ({ default: (await import('./bulk-fields.js')).GrantFields }))

/** Returns the actions on the selected tokens. */
export function tokenActions({ work: { bulk } }: Texts): readonly BulkAction[] {
  const { actions } = bulk
  return [
    { action: 'extend', label: actions.extend, needs: 'admin', Fields: ExtendFields },
    { action: 'grant', label: actions.grant, needs: 'admin', Fields: GrantFields },
    { action: 'withdraw', label: actions.withdrawGrant, needs: 'admin', Fields: GrantFields },
    { action: 'disable', label: actions.disable, needs: 'admin', danger: true },
  ]
}
