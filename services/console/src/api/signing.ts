import type { SigningKey } from '@gateway/contracts/signed-url.js'
import type { Acknowledged } from './catalog.js'
import type { ListSource } from './list.js'
import { useWrite } from './use-write.js'

/** The keys that addresses are signed with, the newest first. */
export const SIGNING_KEYS: ListSource = { key: 'signing-keys', path: '/signing-keys' }

/** Seconds for which addresses stay good that the key of now has signed. */
export function useRotateKey() {
  return useWrite<number, Acknowledged & { readonly items: readonly SigningKey[] }>(
    (seconds) => ({ method: 'POST', path: '/signing-keys/rotate', body: { grace_seconds: seconds } }),
    { changes: ['signing-keys'] },
  )
}
