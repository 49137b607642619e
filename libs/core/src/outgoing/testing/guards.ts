import { DestinationGuard, type GuardSettings } from '../guard.js'
import type { Resolve } from '../resolve.js'

/** A service on its default addresses, with a store and no Redis. */
export const LOOPBACK_SERVICE: GuardSettings = {
  apiHost: '127.0.0.1',
  apiPort: 8910,
  controlHost: '127.0.0.1',
  controlPort: 8911,
  databaseUrl: 'postgres://user:password@127.0.0.1:15432/gateway',
  databaseReadUrl: null,
  redisUrl: null,
  callbackAllow: [],
  callbackDeny: [],
  trustedProxies: [],
  apiBaseUrl: 'http://127.0.0.1:8910',
  tilePublicBaseUrl: 'http://127.0.0.1:8910',
  vectorPublicBaseUrl: 'http://127.0.0.1:8910',
}

export const OPEN_SERVICE: GuardSettings = { ...LOOPBACK_SERVICE, apiHost: '0.0.0.0', controlHost: '0.0.0.0' }

export function guardWith(settings: Partial<GuardSettings> = {}, resolve?: Resolve): DestinationGuard {
  return new DestinationGuard({ ...LOOPBACK_SERVICE, ...settings }, resolve)
}
