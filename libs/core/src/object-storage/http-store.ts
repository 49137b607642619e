import type { DestinationGuard } from '../outgoing/guard.js'
import { ObjectRefused } from './errors.js'
import { guardedConnect } from './guarded-connect.js'
import type { ObjectStore, ObservedRequest } from './object-store.js'
import { reader } from './reading.js'
import { Requester } from './requester.js'
import { encodePath } from './signer.js'

/** Opens an http(s) directory, or one file. It is read-only and cannot be listed. */
export function openHttpStore(
  url: URL,
  place: string,
  guard: DestinationGuard,
  observe: (request: ObservedRequest) => void,
): ObjectStore {
  const requester = new Requester(url.origin, guardedConnect(guard, url.href), observe)
  const base = new URL(place).pathname
  const pathOf = (key: string) => (key === '' ? base : `${base === '/' ? '' : base}/${encodePath(key)}`)
  const readOnly = () => Promise.reject(new ObjectRefused('an http source can only be read'))
  return {
    url: place,
    ...reader(requester, (method, key) => ({ method, path: pathOf(key), headers: () => ({}) }), null),
    // biome-ignore lint/correctness/useYield: it has nothing to list
    async *list() {
      throw new ObjectRefused('an http source cannot be listed')
    },
    write: readOnly,
    prepareWrite: readOnly,
    remove: readOnly,
    get circuit() {
      return requester.circuit.state
    },
    close: () => requester.close(),
  }
}
