import {
  ObjectMissing,
  ObjectRefused,
  ObjectReplaced,
  ObjectStoreTrouble,
} from '@gateway/core/object-storage/errors.js'
import { keyBelow, parseLocation } from '@gateway/core/object-storage/location.js'
import type { ObjectStore } from '@gateway/core/object-storage/object-store.js'
import { type ObjectStoreSettings, openObjectStore } from '@gateway/core/object-storage/open.js'
import { BrokenArchiveError } from '@gateway/tilesets/broken-archive.js'
import { archiveStorageOf } from '@gateway/tilesets/probe.js'
import { probeRemoteTileSet } from '@gateway/tilesets/probe-remote.js'
import { concurrently } from '../../platform/files/concurrently.js'
import { type FileState, type Place, THERE } from './place.js'

/** Maximum number of objects of one source that are read at the same time. */
const AT_ONCE = 8

/** Maximum number of objects below a version's folder that are searched for a tile. */
const MAX_LOOKED_AT = 1000

/**
 * `checkFiles` for places in object storage and behind HTTP: for a PMTiles archive its directory and a tile, for a folder whether it has a tile, for
 * all others whether they exist. Storage that refuses or does not respond says nothing about its content.
 */
export async function checkObjects(
  places: readonly Place[],
  settings: ObjectStoreSettings,
  signal: AbortSignal,
): Promise<FileState[]> {
  const states: FileState[] = []
  const sources = new Map<string, number[]>()
  for (const [i, { root }] of places.entries()) sources.set(root, [...(sources.get(root) ?? []), i])
  const lanes = [...sources].map(async ([root, indexes]) => {
    const store = openObjectStore(root, settings)
    try {
      await concurrently(each(indexes), AT_ONCE, async (i) => {
        states[i] = await checkObject(store, places[i] as Place, signal)
      })
    } finally {
      await store.close()
    }
  })
  await Promise.all(lanes)
  return states
}

async function checkObject(store: ObjectStore, { root, path, is }: Place, signal: AbortSignal): Promise<FileState> {
  const key = keyBelow(root, path)
  if (key === null) return gone('it is not below its scan source')
  try {
    if (is === 'tile tree') return (await hasTiles(store, key, signal)) ? THERE : gone('it holds no tiles')
    if (is === 'archive' && archiveStorageOf(path) === 'pmtiles') {
      await probeRemoteTileSet(store, key, { signal })
      return THERE
    }
    return (await store.head(key, { signal })) === undefined ? gone('it is missing') : THERE
  } catch (error) {
    if (error instanceof ObjectMissing || error instanceof BrokenArchiveError) return gone(error.message)
    const isTrouble = [ObjectRefused, ObjectReplaced, ObjectStoreTrouble].some((kind) => error instanceof kind)
    if (!isTrouble) throw error
    return { presence: 'unknown', why: (error as Error).message }
  }
}

async function hasTiles(store: ObjectStore, key: string, signal: AbortSignal): Promise<boolean> {
  const location = parseLocation(store.url)
  if (typeof location !== 'string' && location.kind === 'http') {
    return (await store.head('tilejson.json', { signal })) !== undefined
  }
  let looked = 0
  for await (const entry of store.list(`${key}/`, { signal })) {
    if ('key' in entry && /\/\d+\/\d+\/\d+\.\w+$/.test(entry.key)) return true
    if (++looked >= MAX_LOOKED_AT) return false
  }
  return false
}

function gone(why: string): FileState {
  return { presence: 'gone', why }
}

async function* each<T>(items: readonly T[]): AsyncIterable<T> {
  yield* items
}
