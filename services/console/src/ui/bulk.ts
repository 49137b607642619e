import type { Role } from '@gateway/contracts/operator.js'
import type { BulkList } from '../api/bulk.js'

import type { Selection } from './use-selection.js'

export type Params = Readonly<Record<string, unknown>>

/** An action on the selected rows of a list. */
export interface BulkAction {
  /** the API's name of the action */
  readonly action: string
  readonly label: string
  readonly needs: Role
  /** effects of the action, for its confirmation */
  readonly effects?: string
  /** label of the button that closes the confirmation, if "Cancel" could mean the action */
  readonly keep?: string
  /** true if the action removes something */
  readonly danger?: boolean
  /** shown while the parameters are incomplete */
  readonly needed?: string
  /** asks for the action's parameters; `null`: they are incomplete */
  readonly Fields?: (props: {
    readonly onChange: (params: Params | null) => void
    readonly selection: Selection<never>
  }) => React.ReactNode
}

export interface Bulk<T> {
  readonly list: BulkList
  /** first parts of the keys of queries that show the changed data */
  readonly changes: readonly string[]
  readonly actions: readonly BulkAction[]
  readonly nameOf: (row: T) => string
}
