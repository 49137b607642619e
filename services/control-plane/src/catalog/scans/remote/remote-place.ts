import { basename, extname } from 'node:path'
import { keyBelow, parseLocation } from '@gateway/core/object-storage/location.js'
import type { ObjectStore } from '@gateway/core/object-storage/object-store.js'
import type { WalkedPlace } from '../walk/walked-source.js'

/** A scan source in object storage or behind HTTP during a walk. */
export interface RemotePlace extends WalkedPlace {
  readonly store: ObjectStore
  /** false for http(s), whose content is known only from its own metadata */
  readonly canBeListed: boolean
  readonly signal: AbortSignal
  /** private directory of this process, for content that can only be read from a file */
  readonly scratch: string
}

export function keyIn({ root }: RemotePlace, path: string): string {
  const key = keyBelow(root, path)
  if (key === null) throw new Error(`${path} is not below ${root}`)
  return key
}

/** Returns the name of a location that is one object or directory: the last part of its path, or the host. */
export function nameOfPlace(root: string): string {
  const location = parseLocation(root)
  if (typeof location === 'string') throw new TypeError(location)
  if (location.kind === 's3') return basename(location.prefix) || location.bucket
  const last = basename(location.url.pathname)
  try {
    return decodeURIComponent(last) || location.url.hostname
  } catch {
    return last
  }
}

export function withoutExtension(name: string): string {
  return name.slice(0, name.length - extname(name).length)
}
