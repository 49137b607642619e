import type { ObjectStore } from '@gateway/core/object-storage/object-store.js'

/** One object of a store. */
export interface RemoteObject {
  readonly store: ObjectStore
  readonly key: string
}
