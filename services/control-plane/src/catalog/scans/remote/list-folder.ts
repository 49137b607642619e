import { pathBelow } from '@gateway/core/object-storage/location.js'
import type { ObjectFacts } from '@gateway/core/object-storage/object-store.js'
import { byName, type Entry, isHidden } from '../walk/list-entries.js'
import { keyIn, type RemotePlace } from './remote-place.js'

export interface RemoteEntry extends Entry {
  /** facts of an object; null for a folder */
  readonly facts: ObjectFacts | null
}

/** `listEntries` for object storage: one list with a delimiter. */
export async function listFolder(place: RemotePlace, path: string): Promise<RemoteEntry[]> {
  place.progress()
  const key = keyIn(place, path)
  const prefix = key === '' ? '' : `${key}/`
  const found: RemoteEntry[] = []
  for await (const entry of place.store.list(prefix, { delimiter: '/', signal: place.signal })) {
    const isObject = 'key' in entry
    const name = isObject ? entry.key.slice(prefix.length) : entry.prefix.slice(prefix.length, -1)
    // `a//b`, and the empty object that tools create in place of a folder.
    if (name === '' || isHidden(name)) continue
    const kind = isObject ? 'file' : 'directory'
    const facts = isObject ? entry.facts : null
    found.push({ name, path: pathBelow(path, name), kind, isLink: false, facts })
  }
  return found.sort(byName)
}

export interface RemoteFile {
  /** relative to the source */
  readonly key: string
  readonly facts: ObjectFacts
}

/** Lists every object below the source at any depth, except hidden ones. */
export async function listFiles(place: RemotePlace): Promise<RemoteFile[]> {
  const files: RemoteFile[] = []
  for await (const entry of place.store.list('', { signal: place.signal })) {
    if (files.length % 1000 === 0) place.progress()
    if (!('key' in entry) || entry.key.split('/').some((name) => name === '' || isHidden(name))) continue
    files.push(entry)
  }
  return files
}
