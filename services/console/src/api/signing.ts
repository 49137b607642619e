import { call } from './client.js'
import { listOf } from './list.js'
import { useWrite } from './use-write.js'

/** The keys that addresses are signed with, the newest first. */
export const SIGNING_KEYS = listOf('signing-keys', '/api/v1/admin/signing-keys')

/** Seconds for which addresses stay good that the key of now has signed. */
export function useRotateKey() {
  return useWrite(
    (seconds: number) => call('post', '/api/v1/admin/signing-keys/rotate', { body: { grace_seconds: seconds } }),
    { changes: ['signing-keys'] },
  )
}
