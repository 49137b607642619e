import { resolve } from 'node:path'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { saidOf } from '@gateway/contracts/messages.js'
import { isRemote, normalLocation, parseLocation } from '@gateway/core/object-storage/location.js'

/** Returns the canonical form of a source's location. A refusal does not repeat the text, since it may hold credentials. */
export function placeOf(path: string): { readonly ok: true; readonly path: string } | Refusal {
  if (!isRemote(path)) return { ok: true, path: resolve(path) }
  const location = parseLocation(path)
  if (typeof location === 'string') return refuse('invalid_parameters', saidOf('body.path', location))
  return { ok: true, path: normalLocation(path) }
}
