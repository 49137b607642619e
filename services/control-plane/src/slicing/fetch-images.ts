import { createWriteStream } from 'node:fs'
import { mkdir, rm, statfs } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { CodedError, coded } from '@gateway/contracts/messages.js'
import { isRemote, keyBelow, normalLocation } from '@gateway/core/object-storage/location.js'
import type { ObjectFacts, ObjectStore } from '@gateway/core/object-storage/object-store.js'
import { openObjectStore } from '@gateway/core/object-storage/open.js'
import type { StoredSliceJob } from '@gateway/store/slice-jobs.js'
import type { ControlContext } from '../platform/context.js'
import { retryUntil } from '../platform/retry-until.js'
import { fetchDirectory } from './tool-request.js'

/** The images of a job, all on this machine's disk. */
export interface LocalImages {
  readonly paths: readonly string[]
  /** identity of the content of each fetched image; null for an image on this machine, which its times identify */
  readonly tags: readonly (string | null)[]
  /** Removes the fetched images. */
  remove(): Promise<void>
}

/** Maximum bytes of a companion file that is text. The tiling tool parses no larger ones. */
const MAX_TEXT_BYTES = 8 * 1024 * 1024

/** Bytes of the disk that are left free for other uses. */
const LEFT_FREE = 1024 ** 3

/** Message for every place outside of the roots, whether or not it exists. */
const OUTSIDE = coded('slice_image_outside')

/**
 * Fetches the images of a job that are in object storage, with the companion files that georeference them, so that GDAL needs no network. Rejects, with a
 * message for the submitter, if an image is outside of SLICE_SOURCE_ROOTS or unreadable, or if all are larger than SLICE_FETCH_MAX_BYTES.
 */
export async function fetchImages(
  { settings }: ControlContext,
  { id, sourcePaths }: StoredSliceJob,
  signal: AbortSignal,
): Promise<LocalImages> {
  if (!sourcePaths.some(isRemote))
    return { paths: sourcePaths, tags: sourcePaths.map(() => null), remove: async () => {} }
  const folder = join(fetchDirectory(settings.dataDir), id)
  const stores = new Map<string, ObjectStore>()
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    await remove()
    const found: Found[] = []
    for (const path of sourcePaths) {
      if (isRemote(path)) found.push(await find(placeIn(settings.sliceSourceRoots, path, openRoot), path, signal))
    }
    await assertRoom(found, folder, settings.sliceFetchMaxBytes, settings.dataDir)
    const fetched = new Map<string, string>()
    for (const [i, one] of found.entries()) {
      // Separate folders, since images from several places may have the same name.
      fetched.set(one.path, await fetchOne(one, join(folder, String(i)), signal))
    }
    const tags = new Map(found.map(({ path, image, beside }) => [path, tagOf(image, beside)]))
    return {
      paths: sourcePaths.map((path) => fetched.get(path) ?? path),
      tags: sourcePaths.map((path) => tags.get(path) ?? null),
      remove,
    }
  } catch (error) {
    await remove()
    throw error
  } finally {
    for (const store of stores.values()) await store.close()
  }

  function openRoot(root: string): ObjectStore {
    const store = stores.get(root) ?? openObjectStore(root, settings)
    stores.set(root, store)
    return store
  }
}

interface Place {
  readonly store: ObjectStore
  readonly key: string
}

interface Found extends Place {
  readonly path: string
  readonly image: ObjectFacts
  readonly beside: readonly { readonly key: string; readonly facts: ObjectFacts }[]
}

function placeIn(roots: readonly string[], path: string, open: (root: string) => ObjectStore): Place {
  for (const root of roots.filter(isRemote)) {
    const key = keyBelow(root, normalLocation(path))
    if (key !== null && key !== '') return { store: open(root), key }
  }
  throw new CodedError(OUTSIDE)
}

async function find({ store, key }: Place, path: string, signal: AbortSignal): Promise<Found> {
  const image = await retryUntil(signal, () => store.head(key, { signal }))
  if (image === undefined) throw new CodedError(coded('object_not_there', { path }))
  const stem = key.slice(0, key.length - extname(key).length)
  const beside = await retryUntil(signal, async () => {
    const entries: Found['beside'][number][] = []
    for await (const entry of store.list(stem, { delimiter: '/', signal })) {
      if (!('key' in entry)) continue
      const kind = companionKind(key, entry.key)
      if (kind === 'raster' || (kind === 'text' && entry.facts.size <= MAX_TEXT_BYTES)) entries.push(entry)
    }
    return entries
  })
  return { store, key, path, image, beside }
}

function tagOf(image: ObjectFacts, beside: Found['beside']): string {
  return [image, ...beside.map(({ facts }) => facts)].map(({ size, etag }) => `${size} ${etag}`).join(', ')
}

/**
 * Returns the kind of an object that the tiling tool looks for next to an image: masks and overviews, or the texts with metadata, the reference
 * system, RPCs and a world file (`.tfw`, `.tifw`, `.wld` ...). Returns null for other objects. Pure.
 */
export function companionKind(image: string, key: string): 'raster' | 'text' | null {
  const stem = image.slice(0, image.length - extname(image).length)
  if (key.startsWith(image) && /^(?:\.msk|\.ovr|\.msk\.ovr)$/i.test(key.slice(image.length))) return 'raster'
  const isText =
    key === `${image}.aux.xml` ||
    key === `${image}w` ||
    (key.startsWith(stem) && /^(?:\.prj|_rpc\.txt|\.rpb|\.rpc|\.[a-z]{2,4}w|\.wld)$/i.test(key.slice(stem.length)))
  return isText ? 'text' : null
}

async function assertRoom(found: readonly Found[], folder: string, maxBytes: number, dataDir: string): Promise<void> {
  const objects = found.flatMap(({ image, beside }) => [image, ...beside.map(({ facts }) => facts)])
  const bytes = objects.reduce((sum, { size }) => sum + size, 0)
  if (bytes > maxBytes) throw new CodedError(coded('slice_fetch_limit', { bytes, limit: maxBytes }))
  await mkdir(folder, { recursive: true })
  const { bavail, bsize } = await statfs(dataDir)
  if (bytes + LEFT_FREE > bavail * bsize) throw new CodedError(coded('slice_fetch_room', { bytes }))
}

/** Returns the path of the image. */
async function fetchOne(
  { store, key, path, image, beside }: Found,
  folder: string,
  signal: AbortSignal,
): Promise<string> {
  await mkdir(folder, { recursive: true })
  for (const one of [{ key, facts: image }, ...beside]) {
    // Starts again after a broken connection. An image with another tag by then is not the one that was measured.
    await retryUntil(signal, async () => {
      const { etag: ifMatch, size } = one.facts
      const { body } = await store.stream(one.key, { ifMatch, size, signal })
      await pipeline(body, createWriteStream(join(folder, basename(one.key))), { signal })
    }).catch((error: Error) => {
      throw new CodedError(coded('slice_fetch_failed', { path, reason: error.message }))
    })
  }
  return join(folder, basename(key))
}
