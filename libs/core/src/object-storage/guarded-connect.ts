import { createRequire } from 'node:module'
import type { buildConnector } from 'undici'
import type { DestinationGuard } from '../outgoing/guard.js'
import { ObjectRefused } from './errors.js'

const require = createRequire(import.meta.url)

const CONNECT_MS = 5_000

/** Dials only the addresses that the guard has checked. Checks again for every connection, since the name may resolve differently by then. */
export function guardedConnect(guard: DestinationGuard, url: string): buildConnector.connector {
  return (options, callback) => {
    guard.admit(url).then(
      (admission) => {
        if (!admission.ok) {
          callback(new ObjectRefused(`the destination is refused: ${admission.reason}`), null)
          return
        }
        // As in requester.ts.
        const undici = require('undici') as typeof import('undici')
        const connector = undici.buildConnector({
          timeout: CONNECT_MS,
          lookup: (_host, wanted, found) => {
            const [first] = admission.addresses
            if (wanted.all) found(null, [...admission.addresses])
            else found(null, first?.address ?? '', first?.family ?? 0)
          },
        })
        connector(options, callback)
      },
      (error: Error) => callback(error, null),
    )
  }
}
