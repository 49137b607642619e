import { call } from './client.js'
import { listOf } from './list.js'
import { useWrite } from './use-write.js'

/** The signing keys, newest first. */
export const SIGNING_KEYS = listOf('signing-keys', '/api/v1/admin/signing-keys', {})

/** @param seconds for which URLs signed by the current key stay valid */
export function useRotateKey() {
  return useWrite(
    (seconds: number) => call('post', '/api/v1/admin/signing-keys/rotate', { body: { grace_seconds: seconds } }),
    { changes: ['signing-keys'] },
  )
}
